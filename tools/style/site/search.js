// Every piece of the site that has all the words; those that have them in their heading first.
const box = document.querySelector('[name=q]');

const score = ([page, heading, , text], words) => {
  let sum = 0;
  for (const word of words) {
    const times = text.toLowerCase().split(word).length - 1;
    const here = (heading.toLowerCase() === word) * 100 + heading.toLowerCase().includes(word) * 20
      + page.toLowerCase().includes(word) * 5 + Math.min(times, 10);
    if (!here) return 0;
    sum += here;
  }
  return sum;
};

const add = (parent, tag, text, more = {}) =>
  parent.appendChild(Object.assign(document.createElement(tag), {textContent: text, ...more}));

const excerpt = (paragraph, text, words) => {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - 60);
  const shown = (start ? '… ' : '') + text.slice(start, start + 220) + (start + 220 < text.length ? ' …' : '');
  const marks = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi');
  shown.split(marks).forEach((part, at) => add(paragraph, at % 2 ? 'mark' : 'span', part));
};

const search = () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const list = document.getElementById('found');
  const hits = !words.length ? [] : PIECES.map((piece) => [score(piece, words), piece])
    .filter(([points]) => points).sort((a, b) => b[0] - a[0]);
  const shown = hits.slice(0, 40);
  list.replaceChildren();
  document.getElementById('count').textContent = !words.length ? 'Type a word above.'
    : !hits.length ? `Nothing has “${box.value}”.`
    : `${hits.length} ${hits.length === 1 ? 'place' : 'places'}` + (hits.length > 40 ? ', the first 40' : '');
  for (const [, [page, heading, address, text]] of shown) {
    const item = add(list, 'li', '');
    add(item, 'a', heading === page ? page : `${page}: ${heading}`, {href: address});
    excerpt(add(item, 'p', ''), text, words);
  }
};

box.value = new URLSearchParams(location.search).get('q') ?? '';
box.oninput = () => {
  history.replaceState(null, '', `?q=${encodeURIComponent(box.value)}`);
  search();
};
box.form.onsubmit = (event) => event.preventDefault();
box.focus();
search();
