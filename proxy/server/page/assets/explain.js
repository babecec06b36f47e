// The form that asks how the gateway would handle a request. The page /explain answers, by the code of `sluice explain`.
import {element, isEmpty, setBadge} from './words.js';

const NAMES = {
  request: 'Request', listener: 'Listener', route: 'Route', passedOver: 'Passed over', refused: 'Refused', backends: 'Backends',
  timeouts: 'Timeouts', retry: 'Retries', answer: 'Answer', filters: 'Filters', processors: 'Processors', notes: 'Notes', session: 'Session',
};

function queryOf(form) {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    const values = name === 'header' ? value.split('\n') : [value];
    for (const each of values) if (each.trim() !== '') query.append(name, each.trim());
  }
  query.append('output', 'json');
  return query;
}

/// Returns the sentence that matters most, and its level.
function verdictOf(answer) {
  if (!answer.listener) return ['No listener accepts this request.', 'bad'];
  const own = answer.answer;
  if (own) return [`The gateway answers ${own.status}: ${own.reason}`, own.status >= 400 ? 'bad' : 'info'];
  if (!answer.route) return ['No route takes this request.', 'bad'];
  const backends = answer.backends ?? [];
  const broken = backends.filter((each) => each.answer);
  const names = backends.filter((each) => !each.answer).map((each) => each.name);
  if (names.length === 0) return [broken.length ? `The gateway answers ${broken[0].answer.status}: ${broken[0].answer.reason}` : 'No Backend takes this request.', 'bad'];
  const text = `${answer.route.kind} ${answer.route.name} sends it to ${names.join(' or ')}.`;
  return broken.length ? [`${text} Other requests are answered ${broken[0].answer.status}: ${broken[0].answer.reason}`, 'warn'] : [text, 'good'];
}

function isNothing(value) {
  return isEmpty(value) || (Array.isArray(value) && value.length === 0);
}

/// Draws any value: maps as terms with their values, lists as lists, all else as text.
function drawn(value) {
  if (Array.isArray(value)) return element('ul', '', ...value.map((each) => element('li', '', drawn(each))));
  if (value === null || typeof value !== 'object') return document.createTextNode(value === true ? 'yes' : value === false ? 'no' : String(value));
  const list = element('dl', 'tree');
  for (const [name, each] of Object.entries(value)) {
    if (!isNothing(each)) list.append(element('div', typeof each === 'object' ? 'deep' : '', element('dt', '', name), element('dd', '', drawn(each))));
  }
  return list;
}

function parts(answer) {
  return Object.entries(answer).filter(([, value]) => !isNothing(value)).map(([name, value]) => {
    const part = element('section', 'part', element('h3', '', NAMES[name] ?? name), drawn(value));
    return part;
  });
}

export function serveExplainForm() {
  const form = document.getElementById('explain-form');
  const verdict = document.getElementById('explain-verdict');
  const place = document.getElementById('explain-answer');
  let asked = 0;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const number = ++asked;
    let shown = ['The gateway does not answer.', 'bad'];
    let answered = [];
    try {
      const answer = await fetch(`explain?${queryOf(form)}`);
      if (answer.ok) {
        const explanation = await answer.json();
        shown = verdictOf(explanation);
        answered = parts(explanation);
      } else {
        shown = [(await answer.text()).trim() || `The gateway answers ${answer.status}.`, 'bad'];
      }
    } catch { /* the connection is lost, which the page shows above */ }
    if (number !== asked) return;
    setBadge(verdict, ...shown);
    verdict.classList.add('verdict');
    place.replaceChildren(...answered);
  });
}
