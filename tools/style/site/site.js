// The switch between light and dark. What the system prefers holds until somebody presses it.
const root = document.documentElement;
const system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
const button = document.getElementById('theme');
const name = () => { button.textContent = isDark() ? 'Light' : 'Dark'; };
button.setAttribute('aria-description', 'Switches the colours of the page');
button.onclick = () => {
  const wanted = isDark() ? 'light' : 'dark';
  root.dataset.theme = wanted === (system.matches ? 'dark' : 'light') ? '' : wanted;
  name();
  localStorage.theme = root.dataset.theme;
};
system.onchange = name;
button.hidden = false;
name();

// Answers are folded below their question.
const answers = document.querySelectorAll('details.came');
const all = document.getElementById('open-all');
if (all) {
  all.hidden = false;
  all.onclick = () => {
    const open = [...answers].some((answer) => !answer.open);
    answers.forEach((answer) => { answer.open = open; });
    all.textContent = open ? 'Fold every answer' : 'Open every answer';
  };
}
addEventListener('beforeprint', () => answers.forEach((answer) => { answer.open = true; }));

// What scrolls within itself can be reached by keyboard, and nothing else takes a stop for it.
const stops = () => {
  for (const part of document.querySelectorAll('.highlight pre, .output, .output pre, .scroll'))
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute('tabindex');
};
new ResizeObserver(stops).observe(document.querySelector('main'));
addEventListener('toggle', stops, true);
