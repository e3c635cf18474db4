"""The script that plays a film, where a page lets scripts run: a trusted notebook, nbconvert's HTML.

The page shows everything without it. The script shows one frame at a time in place of the strip, with what happens in
that step in words, and adds buttons and a slider, which the arrow keys move. It does not run on GitHub or in a notebook
that is not trusted.
"""

SCRIPT = """
for (const film of document.querySelectorAll('.minigrad-film:not([data-plays])')) {
  film.dataset.plays = 'yes';
  const screen = film.querySelector('img');
  const shots = [screen, ...film.querySelectorAll('details img')].map((image) =>
    ({src: image.src, alt: image.alt, width: image.getAttribute('width'), height: image.getAttribute('height')}));
  const last = shots.length - 1;
  const room = Math.max(...shots.map((shot) => +shot.height));
  const look = 'border:1px solid #8c8c8c;border-radius:4px;padding:3px 12px;margin-right:6px;background:none;'
    + 'color:inherit;font:inherit;cursor:pointer';
  const bar = document.createElement('div');
  bar.innerHTML = ['Previous', 'Play', 'Next', 'All steps']
    .map((name) => `<button type="button" style="${look}">${name}</button>`).join('')
    + '<input type="range" min="0" value="0" style="width:240px;vertical-align:middle"> <span></span>'
    + '<p aria-live="polite" style="margin:8px 0;max-width:700px"></p>';
  const [previous, play, next, all, slider, label, sentence] = bar.children;
  slider.max = last;
  slider.setAttribute('aria-label', 'step of the backward');
  screen.parentNode.before(bar);
  let timer = 0;
  const words = (at) => at ? shots[at].alt.split(': ').slice(1).join(': ') + '.' : 'Press Next to go step by step.';
  const leaveRoom = () => {  // so that nothing below moves from step to step
    screen.parentNode.style.minHeight = room + 'px';
    const heights = shots.map((_, at) => {
      sentence.textContent = words(at);
      return sentence.getBoundingClientRect().height;
    });
    sentence.style.minHeight = Math.ceil(Math.max(...heights)) + 'px';
  };
  const show = () => {
    const at = +slider.value, shot = shots[at];
    if (at && !sentence.style.minHeight) leaveRoom();
    // A small frame fills the room of the strip.
    const larger = at ? Math.min(1.5, room / shot.height) : 1;
    screen.src = shot.src;
    screen.alt = shot.alt;
    screen.setAttribute('width', Math.round(shot.width * larger));
    screen.setAttribute('height', Math.round(shot.height * larger));
    label.textContent = at ? shot.alt.split(':')[0] : `${last} steps`;
    sentence.textContent = words(at);
    previous.disabled = at <= 1;
    next.disabled = at === last;
  };
  const stop = () => { clearInterval(timer); timer = 0; play.textContent = 'Play'; };
  const go = (to) => { slider.value = Math.max(0, Math.min(last, to)); show(); };
  const stopAt = (to) => { stop(); go(to); };
  slider.oninput = () => stopAt(+slider.value);
  previous.onclick = () => stopAt(+slider.value - 1);
  next.onclick = () => stopAt(+slider.value + 1);
  all.onclick = () => stopAt(0);
  window.addEventListener('keydown', (event) => {  // before JupyterLab takes the arrow keys for its cells
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!bar.contains(event.target) || !by) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    stopAt(+slider.value + by);
  }, true);
  play.onclick = () => {
    if (timer) return stop();
    go(+slider.value === last ? 1 : +slider.value + 1);
    play.textContent = 'Pause';
    timer = setInterval(() => {
      if (+slider.value === last || !film.isConnected) return stop();
      go(+slider.value + 1);
    }, 2500);
  };
  show();
}
"""
