// The sections: each has a title, the number of its rows, a search where there may be many, and a table. The state names
// titles and columns, so this page and `sluice top` use the same words.
import {dateOf, distanceText, element, isEmpty, levelOf, numberText, setBadge, setClass, setText, timeText} from './words.js';

/// Members that stand one below the other in one column. All others have a column of their own.
const STACKED = {
  wrong: [['object', 'field'], ['message', 'reason']],
  listeners: [['gateway', 'listener'], ['address', 'protocol'], ['desired', 'served']],
  backends: [['healthy', 'endpoints'], ['lastError', 'lastFailure', 'lastFailedAt']],
  endpoints: [['object', 'endpoint'], ['state', 'by'], ['lastError', 'lastFailure'], ['zone', 'weight']],
  routes: [['route', 'kind']],
  exchanges: [['method', 'authority', 'path'], ['route', 'backend'], ['waitingFor', 'waitingAt', 'step'], ['clientAddress', 'serviceAccount', 'principal']],
  errors: [['time', 'requestId'], ['type', 'fault', 'status'], ['message', 'authority'], ['route', 'backend', 'gateway']],
  denied: [['client', 'assurance'], ['by', 'type']],
  certificates: [['object', 'use'], ['ends', 'days']],
  limits: [['limit', 'object'], ['used', 'most'], ['hits', 'total']],
  events: [['reason', 'object']],
};
/// Sections whose other rows the gateway finds.
const SEARCHED_THERE = new Set(['routes', 'backends', 'endpoints']);
const TIMES = new Set(['since', 'time', 'last', 'lastFailedAt', 'ends', 'first']);
const NUMBERS = new Set(['rate', 'errors', 'serverErrors', 'p50Ms', 'p99Ms', 'total', 'count', 'routes', 'endpoints', 'healthy', 'failures', 'weight', 'ageSeconds', 'used', 'most', 'percent', 'hits', 'days']);
const CODES = new Set(['field', 'place', 'requestId', 'path', 'authority', 'endpoint', 'address', 'desired', 'served', 'revision', 'limit', 'waitingAt', 'clientAddress', 'principal', 'hostname', 'peer']);
const BADGES = new Set(['state', 'severity', 'change', 'tainted']);
/// Members whose words must not be broken.
const WORDS = new Set(['object', 'backend', 'reason', 'type', 'lastError', 'revision', 'client']);
/// More than nothing of these is no good news.
const ALARMING = new Set(['errors', 'serverErrors', 'hits']);
/// Rows from which on a section has a search.
const MANY = 10;
/// Rows that are shown at first, so that the next section is not far away.
const FEW = 25;
const SEARCH_PAUSE_MS = 200;
const SEARCH_AGAIN_MS = 3000;

function groupsOf(section, columns) {
  const titles = new Map(columns.map((each) => [each.member, each.title]));
  const groups = [];
  const placed = new Set();
  for (const {member} of columns) {
    if (placed.has(member)) continue;
    const stacked = (STACKED[section] ?? []).find((each) => each.includes(member)) ?? [member];
    const members = stacked.filter((each) => titles.has(each));
    for (const each of members) placed.add(each);
    groups.push({members, title: members.map((each) => titles.get(each)).join(' · '), titles});
  }
  return groups;
}

function withRole(node, role) {
  node.setAttribute('role', role);  // a table that is drawn as cards keeps its meaning
  return node;
}

/// One value in a cell.
class Slot {
  constructor(section, member, title, isFirst) {
    this.section = section;
    this.member = member;
    this.node = element('div', isFirst ? 'first' : 'more');
    this.isFirst = isFirst;
    this.value = element(TIMES.has(member) ? 'time' : CODES.has(member) ? 'code' : 'span');
    if (!isFirst) this.node.append(element('span', 'name', title), ' ');
    this.node.append(this.value);
    this.away = TIMES.has(member) ? this.node.appendChild(element('span', 'away')) : null;
  }

  show(row, now) {
    const value = row[this.member];
    const none = isEmpty(value);
    this.node.hidden = none && !this.isFirst;
    if (this.away) return this.#showTime(value, now);
    const level = none ? '' : levelOf(this.section, this.member, value);
    const text = none ? '–' : typeof value === 'number' ? numberText(value) : value === true ? 'yes' : value === false ? 'no' : String(value);
    if (level || (BADGES.has(this.member) && !none)) return setBadge(this.value, text, level);
    setText(this.value, text);
    setClass(this.value, none ? 'none' : ALARMING.has(this.member) && value > 0 ? 'alarming' : '');
  }

  #showTime(value, now) {
    const date = dateOf(value);
    setText(this.value, date ? timeText(date, now) : '–');
    setClass(this.value, date ? '' : 'none');
    if (date && this.value.dateTime !== value) {
      this.value.dateTime = value;
      this.value.title = `${value} (here ${date.toLocaleString()})`;
    }
    setText(this.away, date ? distanceText(date, now) : '');
  }
}

class Row {
  constructor(section, groups) {
    this.node = withRole(element('tr'), 'row');
    this.slots = [];
    groups.forEach((group, index) => {
      const cell = withRole(element(index === 0 ? 'th' : 'td', classOf(group)), index === 0 ? 'rowheader' : 'cell');
      if (index === 0) cell.scope = 'row';
      cell.dataset.label = group.members.length === 1 ? group.title : group.titles.get(group.members[0]);
      group.members.forEach((member, place) => {
        const slot = new Slot(section, member, group.titles.get(member), place === 0);
        this.slots.push(slot);
        cell.append(slot.node);
      });
      this.node.append(cell);
    });
  }

  show(row, now) {
    for (const slot of this.slots) slot.show(row, now);
    const levels = this.slots.map((slot) => levelOf(slot.section, slot.member, row[slot.member]));
    setClass(this.node, levels.includes('bad') ? 'is-bad' : levels.includes('warn') ? 'is-warn' : '');
  }
}

function classOf(group) {
  const first = group.members[0];
  if (NUMBERS.has(first)) return 'number';
  if (TIMES.has(first)) return group.members.length > 1 ? 'when word' : 'when';
  if (BADGES.has(first)) return 'short';
  return group.members.some((each) => WORDS.has(each)) ? 'word' : '';
}

export class Section {
  #rows = [];
  #asked = {text: '', rows: null, total: 0, at: 0, busy: false, problem: ''};
  #wait = 0;
  #last = null;
  #isLong = false;

  constructor(words) {
    this.name = words.section;
    this.title = words.title;
    this.none = words.none;
    this.groups = groupsOf(words.section, words.columns);
    this.node = element('section', 'section');
    this.node.id = words.section;
    this.heading = element('h2', '', words.title);
    this.heading.id = `${words.section}-title`;
    this.node.setAttribute('aria-labelledby', this.heading.id);
    this.count = element('span', 'count');
    this.search = this.#makeSearch();
    this.empty = element('p', 'empty', words.none);
    this.table = this.#makeTable();
    this.more = this.#makeMore();
    this.node.append(element('div', 'section-head', this.heading, this.count, this.search), this.empty, this.table, this.more);
    this.link = element('a', '', element('span', '', words.title), element('span', 'badge'));
    this.link.href = `#${words.section}`;
  }

  #makeSearch() {
    const input = element('input', 'search');
    input.type = 'search';
    input.placeholder = 'Search';
    input.spellcheck = false;
    input.setAttribute('aria-label', `Search in ${this.title}`);
    input.addEventListener('input', () => {
      clearTimeout(this.#wait);
      this.#wait = setTimeout(() => this.#ask(), SEARCH_PAUSE_MS);
    });
    return input;
  }

  #makeMore() {
    const button = element('button', 'all');
    button.type = 'button';
    button.addEventListener('click', () => {
      this.#isLong = !this.#isLong;
      this.#draw();
    });
    return button;
  }

  #makeTable() {
    const head = withRole(element('tr'), 'row');
    for (const group of this.groups) {
      const cell = withRole(element('th', classOf(group), group.title), 'columnheader');
      cell.scope = 'col';
      head.append(cell);
    }
    this.body = withRole(element('tbody'), 'rowgroup');
    const table = withRole(element('table', '', withRole(element('thead', '', head), 'rowgroup'), this.body), 'table');
    table.setAttribute('aria-labelledby', this.heading.id);
    return table;
  }

  // The gateway knows rows that the state leaves out; elsewhere all rows are here.
  async #ask() {
    const text = this.search.value.trim();
    if (text === '' || !SEARCHED_THERE.has(this.name)) {
      this.#asked = {...this.#asked, text, rows: null, problem: ''};
      return this.#draw();
    }
    if (this.#asked.busy) return;
    this.#asked.busy = true;
    let found = {rows: this.#asked.rows ?? [], total: this.#asked.total, problem: ''};
    try {
      const answer = await fetch(`page/rows?${new URLSearchParams({section: this.name, search: text})}`);
      found = answer.ok ? {...await answer.json(), problem: ''} : {...found, problem: `The search was refused: ${answer.status}`};
    } catch {
      found.problem = 'The search was not answered';
    }
    this.#asked = {...found, text, at: Date.now(), busy: false};
    if (this.search.value.trim() !== text) return this.#ask();
    this.#draw();
  }

  /// Draws the rows of a state.
  update(section, now) {
    this.#last = {rows: section?.rows ?? [], total: section?.total ?? 0, now};
    this.#draw();
    if (this.#asked.text !== '' && Date.now() - this.#asked.at > SEARCH_AGAIN_MS) this.#ask();
  }

  #shown() {
    const {rows, total} = this.#last;
    const {text} = this.#asked;
    if (text === '') return {rows, total};
    if (SEARCHED_THERE.has(this.name)) return {rows: this.#asked.rows ?? [], total: this.#asked.total};
    const wanted = text.toLowerCase();
    const found = rows.filter((row) => Object.values(row).some((value) => String(value ?? '').toLowerCase().includes(wanted)));
    return {rows: found, total: found.length};
  }

  #draw() {
    if (this.#last === null) return;
    const {rows: known, total} = this.#shown();
    const rows = this.#isLong ? known : known.slice(0, FEW);
    while (this.#rows.length > rows.length) this.#rows.pop().node.remove();
    const added = document.createDocumentFragment();
    while (this.#rows.length < rows.length) {
      const row = new Row(this.name, this.groups);
      this.#rows.push(row);
      added.append(row.node);
    }
    this.body.append(added);
    rows.forEach((row, index) => this.#rows[index].show(row, this.#last.now));
    this.#drawCount(known.length, total);
    this.more.hidden = known.length <= FEW;
    this.more.setAttribute('aria-expanded', String(this.#isLong));
    setText(this.more, this.#isLong ? `Show the first ${FEW} of ${this.title}` : `Show ${numberText(known.length)} of ${this.title}`);
    this.table.hidden = rows.length === 0;
    this.empty.hidden = rows.length !== 0;
    setText(this.empty, this.#asked.text === '' ? this.none : 'Nothing matches the search.');
    setClass(this.empty, this.name === 'wrong' && this.#asked.text === '' ? 'empty good' : 'empty');
  }

  #drawCount(shown, total) {
    const searching = this.#asked.text !== '';
    const all = numberText(total) + (searching ? ' found' : '');
    setText(this.count, this.#asked.problem || (shown < total ? `${numberText(shown)} of ${all}` : all));
    const isWorthIt = this.#last.total > MANY || this.search.value !== '';
    if (document.activeElement !== this.search) this.search.hidden = !isWorthIt;
    this.#drawLink();
  }

  #drawLink() {
    const levels = this.#last.rows.map((row) => this.groups.flatMap((group) => group.members).map((member) => levelOf(this.name, member, row[member])));
    const bad = levels.filter((each) => each.includes('bad')).length;
    const warn = levels.filter((each) => each.includes('warn')).length;
    const isHistory = this.name === 'events' || this.name === 'revisions';
    const total = numberText(this.#last.total);
    const faulty = bad || warn;
    const text = isHistory || faulty === 0 || faulty === this.#last.total ? total : `${faulty} of ${total}`;
    setBadge(this.link.lastChild, text, isHistory ? '' : bad ? 'bad' : warn ? 'warn' : '');
  }

  focusSearch() {
    if (this.search.hidden) return false;
    this.search.focus();
    return true;
  }
}
