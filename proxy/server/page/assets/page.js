// The page of the gateway's state, live. 'page/data' sends a state each second; nothing is computed while no page looks.
import {serveExplainForm} from './explain.js';
import {Section} from './sections.js';
import {clockText, dateOf, distanceText, element, isEmpty, levelOf, Line, numberText, setBadge, setClass, setText, timeText} from './words.js';

const TILES = new Set(['rate', 'errors', 'p50Ms', 'p99Ms', 'inFlight', 'connections']);
/// Members of the head that have a place of their own.
const PLACED = new Set(['state', 'time']);
const RETRY_MS = 2000;
const SILENCE_MS = 10000;

const byId = (id) => document.getElementById(id);

// --- the state

const sections = new Map();
const facts = new Map();
let version = null;

function tile(title) {
  const made = {value: element('dd', 'value'), line: new Line()};
  made.node = element('div', 'tile', element('dt', '', title), made.value, made.line.node);
  return made;
}

function fact(title) {
  const made = {value: element('dd')};
  made.node = element('div', 'fact', element('dt', '', title), made.value);
  return made;
}

function drawHead(state, now) {
  setBadge(byId('state'), state.state, levelOf('', 'state', state.state));
  byId('state').hidden = false;
  for (const {member, title} of state.head) {
    if (PLACED.has(member)) continue;
    const isTile = TILES.has(member);
    if (!facts.has(member)) {
      facts.set(member, isTile ? tile(title) : fact(title));
      byId(isTile ? 'tiles' : 'facts').append(facts.get(member).node);
    }
    const place = facts.get(member);
    const value = state[member];
    const date = member === 'since' ? dateOf(value) : null;
    const text = isEmpty(value) ? '–' : date ? `${timeText(date, now)} (${distanceText(date, now)})` : typeof value === 'number' ? numberText(value) : String(value);
    setText(place.value, text);
    if (isTile) {
      place.line.add(value);
      setClass(place.node, member === 'errors' && value > 0 ? 'tile alarming' : 'tile');
    } else {
      setClass(place.node, member === 'desired' && state.desired !== state.served ? 'fact differs' : 'fact');
    }
  }
}

function drawSections(state, now) {
  for (const words of state.words) {
    if (!sections.has(words.section)) {
      const section = new Section(words);
      sections.set(words.section, section);
      byId('sections').append(section.node);
      const item = element('li', '', section.link);
      byId('links').insertBefore(item, byId('links').querySelector('.own'));
    }
    sections.get(words.section).update(state.sections[words.section], now);
  }
}

/// Tells a screen reader what has changed for the worse or the better, and nothing else: numbers change every second.
function tellNews(state) {
  const wrong = state.sections.wrong;
  const first = wrong?.rows[0];
  const count = wrong?.total ?? 0;
  const what = count === 0 ? 'Nothing is wrong.' : `${count} wrong. First: ${[first.object, first.field, first.place, first.reason].filter(Boolean).join(', ')}`;
  setText(byId('news'), `${state.state}. ${what}`);
  document.title = `${count === 0 ? state.state : `${state.state}, ${count} wrong`} – Sluice`;
}

function draw(state) {
  if (version !== null && version !== state.version) return location.reload();  // of another program comes another page
  version = state.version;
  const now = dateOf(state.time) ?? new Date();
  drawHead(state, now);
  drawSections(state, now);
  tellNews(state);
  if (state.draining) showConnection(`Live ${clockText(now)}, the gateway is about to end`, 'warn');
  else showConnection(`Live ${clockText(now)}`, 'good');
}

// --- the connection

let source = null;
let lastNews = new Date();  // by the clock of this computer
let silence = 0;
let again = 0;
let isPaused = false;

function showConnection(text, level) {
  setBadge(byId('connection-text'), text, level);
  const isStale = level !== 'good' && level !== 'warn';
  document.body.classList.toggle('stale', isStale && sections.size > 0);
}

function close() {
  source?.close();
  source = null;
  clearTimeout(silence);
  clearTimeout(again);
}

/// Says since when nothing came, and tries again: the browser gives up after some answers.
function lose() {
  close();
  const text = `Connection lost since ${clockText(lastNews)}`;
  showConnection(text, 'bad');
  setText(byId('news'), text);
  document.title = 'Connection lost – Sluice';
  again = setTimeout(open, RETRY_MS);
}

function expectNews(milliseconds) {
  clearTimeout(silence);
  silence = setTimeout(lose, milliseconds);
}

function open() {
  close();
  source = new EventSource('page/data');
  source.onmessage = (event) => {
    const state = JSON.parse(event.data);
    lastNews = new Date();
    expectNews(Math.max(SILENCE_MS, 3000 * (state.intervalSeconds ?? 1)));
    draw(state);
  };
  source.onerror = lose;
  expectNews(SILENCE_MS);
}

/// Nobody looks at a hidden page, so nothing is computed for it.
function follow() {
  if (isPaused) {
    close();
    showConnection(`Paused at ${clockText(lastNews)}`, 'info');
  } else if (document.hidden) {
    close();
  } else {
    open();
  }
}

function serveKeys(event) {
  const isTyping = event.target.closest('input, textarea, select') !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.key !== '/') return;
  const first = [...sections.values()].find((section) => section.node.getBoundingClientRect().bottom > 120 && !section.search.hidden);
  if (first?.focusSearch()) event.preventDefault();
}

function begin() {
  const link = element('a', '', element('span', '', 'Explain a request'));
  link.href = '#explain';
  byId('links').append(element('li', 'own', link));
  byId('menu').open = matchMedia('(min-width: 80rem)').matches;
  matchMedia('(min-width: 80rem)').addEventListener('change', (event) => { byId('menu').open = event.matches; });
  byId('pause').addEventListener('click', () => {
    isPaused = !isPaused;
    byId('pause').setAttribute('aria-pressed', String(isPaused));
    follow();
  });
  document.addEventListener('visibilitychange', follow);
  document.addEventListener('keydown', serveKeys);
  serveExplainForm();
  follow();
}

begin();
