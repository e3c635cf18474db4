"""The script that plays a film, where a page lets scripts run: a trusted notebook, nbconvert's HTML.

The page shows everything without it. The script shows one frame at a time in place of the strip, and adds a button
and a slider, which the arrow keys move. It does not run on GitHub or in a notebook that is not trusted.
"""

SCRIPT = """
for (const film of document.querySelectorAll('.minigrad-film:not([data-plays])')) {
  film.dataset.plays = 'yes';
  const screen = film.querySelector('img');
  const keys = ['src', 'alt', 'width', 'height'];
  const shots = [screen, ...film.querySelectorAll('details img')]
    .map((image) => keys.map((key) => image.getAttribute(key)));
  const bar = document.createElement('p');
  bar.innerHTML = '<button type="button">Play</button> '
    + '<input type="range" min="0" value="0" style="width:320px;vertical-align:middle"> <span></span>';
  const [button, slider, label] = bar.children;
  slider.max = shots.length - 1;
  slider.setAttribute('aria-label', 'step of the backward');
  const tallest = Math.max(...shots.slice(1).map((shot) => +shot[3]));
  screen.parentNode.before(bar);
  let timer = 0;
  const show = () => {
    keys.forEach((key, i) => screen.setAttribute(key, shots[slider.value][i]));
    if (+slider.value) screen.parentNode.style.minHeight = tallest + 'px';  // no jump from step to step
    label.textContent = +slider.value ? shots[slider.value][1].split(':')[0] : 'all steps';
  };
  const stop = () => { clearInterval(timer); timer = 0; button.textContent = 'Play'; };
  slider.oninput = () => { stop(); show(); };
  window.addEventListener('keydown', (event) => {  // before JupyterLab takes the arrow keys for its cells
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.target !== slider || !by) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    slider.value = +slider.value + by;
    slider.oninput();
  }, true);
  button.onclick = () => {
    if (timer) return stop();
    if (slider.value === slider.max) slider.value = 0;
    button.textContent = 'Pause';
    const next = () => {
      slider.value = +slider.value + 1;
      show();
      if (slider.value === slider.max || !film.isConnected) stop();
    };
    timer = setInterval(next, 1200);
    next();
  };
  show();
}
"""
