// States of the page, made of the sample that the gateway's own tests use.
import {readFileSync} from 'node:fs';

const SAMPLE = new URL('../../../server/page/state.json', import.meta.url);

/// Nothing works as it should.
export function rollback() {
  return JSON.parse(readFileSync(SAMPLE, 'utf8'));
}

function setRows(state, section, rows) {
  state.sections[section] = {rows, total: rows.length};
}

/// Returns a state in which a revision is served as it is written, and everything is reachable.
export function good() {
  const state = rollback();
  Object.assign(state, {state: 'InSync', desired: state.served, errors: 0});
  for (const name of ['wrong', 'errors', 'denied', 'limits', 'events', 'faults']) setRows(state, name, []);
  for (const row of state.sections.listeners.rows) Object.assign(row, {state: 'Programmed', served: row.desired});
  for (const row of state.sections.backends.rows) {
    Object.assign(row, {state: 'healthy', healthy: row.endpoints, errors: 0, lastError: '', lastFailure: '', lastFailedAt: ''});
  }
  const endpoints = state.sections.endpoints.rows.map((row) => ({
    object: row.object, endpoint: row.endpoint, zone: row.zone, weight: row.weight, state: 'healthy', since: state.since,
  }));
  setRows(state, 'endpoints', endpoints);
  setRows(state, 'routes', state.sections.routes.rows.map((row) => ({...row, errors: 0, serverErrors: 0})));
  setRows(state, 'certificates', state.sections.certificates.rows.filter((row) => row.days === null || row.days > 30));
  setRows(state, 'revisions', state.sections.revisions.rows.filter((row) => !row.tainted));
  setRows(state, 'exchanges', state.sections.exchanges.rows.map((row) => ({...row, path: row.route === 'demo/api' ? row.path : '/cart/7'})));
  return state;
}

/// Returns a state in which a Backend refuses connections, and all else is well.
export function backendDown() {
  const broken = rollback();
  const state = good();
  const isOfApi = (row) => Object.values(row).some((value) => /demo\/api|connection_refused/.test(String(value)));
  state.errors = broken.errors;
  for (const name of ['wrong', 'errors', 'faults', 'events']) setRows(state, name, broken.sections[name].rows.filter(isOfApi));
  for (const name of ['backends', 'endpoints', 'routes']) {
    setRows(state, name, state.sections[name].rows.map((row, index) => (isOfApi(row) ? broken.sections[name].rows[index] : row)));
  }
  return state;
}

/// Returns a state with this text in place of each name and message.
export function saying(text) {
  const state = rollback();
  for (const {rows} of Object.values(state.sections)) {
    for (const row of rows) {
      for (const [member, value] of Object.entries(row)) if (typeof value === 'string') row[member] = text;
    }
  }
  return state;
}

/// Returns the first 200 of so many routes, and all of them.
export function crowded(count) {
  const state = good();
  const routes = Array.from({length: count}, (_, i) => ({
    route: `team-${i % 40}/route-${i}`, kind: 'HTTPRoute', rate: (count - i) / 10, errors: 0, serverErrors: 0, p50Ms: 4.2, p99Ms: 61,
  }));
  state.sections.routes = {rows: routes.slice(0, 200), total: count};
  return {state, routes};
}
