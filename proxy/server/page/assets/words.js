// Elements, and how values are written. Every name and message goes into the page as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

/// Makes an element with a class and children, which are nodes or texts.
export function element(name, className = '', ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setClass(node, className) {
  if (node.className !== className) node.className = className;
}

// --- numbers and times

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const tenths = new Intl.NumberFormat('en', {maximumFractionDigits: 1});
const hundredths = new Intl.NumberFormat('en', {maximumFractionDigits: 2});

export function numberText(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 100) return whole.format(value);
  return size >= 10 ? tenths.format(value) : hundredths.format(value);
}

export function clockText(date) {
  return date.toISOString().slice(11, 19);
}

/// Writes a time as short as it is clear: without the day if that is the day of `now`.
export function timeText(date, now) {
  const text = date.toISOString();
  return text.slice(0, 10) === now.toISOString().slice(0, 10) ? text.slice(11, 19) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

/// Writes how long a time is away from `now`.
export function distanceText(date, now) {
  const seconds = Math.round((now - date) / 1000);
  const size = Math.abs(seconds);
  const text = size < 60 ? `${size} s` : size < 3600 ? `${Math.floor(size / 60)} min` : size < 2 * 86400 ? `${Math.floor(size / 3600)} h` : `${Math.floor(size / 86400)} days`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

export function dateOf(value) {
  const date = typeof value === 'string' && value ? new Date(value) : null;
  return date && !Number.isNaN(date.getTime()) ? date : null;
}

export function isEmpty(value) {
  return value === undefined || value === null || value === '';
}

// --- good, doubtful and bad: each has a sign and a colour, and the word itself stands beside them

const SIGNS = {good: '✓', warn: '▲', bad: '✕', info: '●', added: '+', removed: '−', changed: '±'};
const LEVELS = {
  InSync: 'good', Loading: 'info', Rollback: 'bad', RollbackFailed: 'bad',
  error: 'bad', warning: 'warn', Warning: 'warn', Normal: 'info',
  healthy: 'good', slowStart: 'info', ejected: 'bad', unhealthy: 'bad',
  Programmed: 'good', Pending: 'warn',
  added: 'added', removed: 'removed', changed: 'changed',
};

export function levelOf(section, member, value) {
  if (member === 'percent') return value >= 95 ? 'bad' : value >= 80 ? 'warn' : '';
  if (member === 'days' && typeof value === 'number') return value <= 0 ? 'bad' : value < 30 ? 'warn' : '';
  if (member === 'tainted') return value === true ? 'bad' : '';
  if (member === 'state' && section === 'listeners') return LEVELS[value] ?? 'bad';
  return ['state', 'severity', 'type', 'change'].includes(member) ? LEVELS[value] ?? '' : '';
}

/// Writes a value with the sign of its level into a node.
export function setBadge(node, text, level) {
  if (node.firstElementChild === null) node.replaceChildren(signOf(level), document.createTextNode(text));
  setText(node.firstElementChild, SIGNS[level] ?? '');
  if (node.lastChild.data !== text) node.lastChild.data = text;
  setClass(node, `badge ${level}`);
}

function signOf(level) {
  const sign = element('span', 'sign', SIGNS[level] ?? '');
  sign.setAttribute('aria-hidden', 'true');
  return sign;
}

// --- pictures

/// Draws the last values as a line, which says nothing that the number beside it does not say to a screen reader.
export class Line {
  static POINTS = 120;
  #values = [];
  #path = document.createElementNS(SVG, 'polyline');
  node = document.createElementNS(SVG, 'svg');

  constructor() {
    this.node.setAttribute('viewBox', '0 0 120 24');
    this.node.setAttribute('preserveAspectRatio', 'none');
    this.node.setAttribute('aria-hidden', 'true');
    this.node.classList.add('line');
    this.#path.setAttribute('vector-effect', 'non-scaling-stroke');
    this.node.append(this.#path);
  }

  add(value) {
    this.#values.push(typeof value === 'number' ? value : 0);
    if (this.#values.length > Line.POINTS) this.#values.shift();
    const most = Math.max(...this.#values, 1e-9);
    const begin = Line.POINTS - this.#values.length;
    this.#path.setAttribute('points', this.#values.map((each, i) => `${begin + i},${(22.5 - 17 * each / most).toFixed(1)}`).join(' '));
  }
}
