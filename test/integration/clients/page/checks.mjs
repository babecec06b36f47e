// Checks the page in a browser: checks.mjs BROWSER GATEWAY CHECK. BROWSER is the endpoint of a browser that runs, GATEWAY
// the URL of an admin port, whose page gets states that are played. Ends with an error if the check fails.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {connect, look, rowsOf, until} from './browsing.mjs';
import {Player} from './player.mjs';
import {crowded, good, rollback, saying} from './states.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const [endpoint, gateway, check] = process.argv.slice(2);
const browser = await connect(endpoint);
const problems = [];

async function play(state, rows) {
  const player = await new Player(gateway, state, rows).start();
  return {player, page: await look(browser, player.url, problems)};
}

const HOSTILE = '<img src=x onerror="document.title=1;alert(1)"></td><script>alert(2)</script><b id=made>&lt;\u202e javascript:alert(3)';
const checks = {
  async namesAreText() {
    const {player, page} = await play(saying(HOSTILE));
    const shown = await rowsOf(page, 'wrong');
    assert.ok(shown.length === 5 && shown.every((row) => row.includes('<img src=x onerror=')), shown[0]);
    player.explanation = {status: 200, body: JSON.stringify({listener: {name: HOSTILE}, route: {kind: HOSTILE, name: HOSTILE}, backends: [{name: HOSTILE}], [HOSTILE]: HOSTILE})};
    await page.type('#explain-url', 'http://a/');
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('#explain-answer section') !== null);
    const made = await page.evaluate(() => document.querySelectorAll('main img, main script, #made, [onerror], [style]').length);
    assert.equal(made, 0, 'a name became markup');
    assert.match(await page.title(), /Sluice$/);
  },

  async scriptsOfTheDocumentDoNotRun() {
    const {player, page} = await play(good());
    const refused = await page.evaluate(() => {
      const script = document.createElement('script');
      try {
        script.textContent = 'window.ran = true';
      } catch { /* the page may make no script of a text */ }
      document.head.append(script);
      const markup = document.createElement('div');
      try {
        markup.innerHTML = '<i id=made></i>';
      } catch { /* nor markup */ }
      document.body.append(markup);
      return window.ran === undefined && document.getElementById('made') === null;
    });
    assert.ok(refused);
    const {headers} = await fetch(player.url, {headers: {accept: 'text/html'}});
    assert.match(headers.get('content-security-policy'), /^default-src 'self';.*frame-ancestors 'none'/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    problems.length = 0;  // the browser has told of what it refused
  },

  async servesKeyboardsAndScreenReaders() {
    const {page} = await play(rollback());
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
      await page.evaluate(axe);
      const {violations} = await page.evaluate(() => axe.run());
      assert.deepEqual(violations.map((each) => `${scheme}: ${each.id}: ${each.nodes[0].html} ${each.nodes[0].failureSummary}`), []);
    }
    const reached = [];
    await page.evaluate(() => scrollTo(0, 0));
    for (let i = 0; i < 40 && !reached.includes('explain-url'); ++i) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute('href') || document.activeElement.getAttribute('aria-label')));
    }
    for (const each of ['#content', 'pause', '#wrong', '#explain', 'Search in Routes', 'explain-url']) assert.ok(reached.includes(each), `${each} of ${reached}`);
    const names = await page.evaluate(() => ({
      landmarks: ['header', 'nav', 'main', 'footer'].every((name) => document.querySelectorAll(name).length === 1),
      tables: [...document.querySelectorAll('table')].every((table) => document.getElementById(table.getAttribute('aria-labelledby')) && table.querySelector('th[scope=col]')),
      rows: [...document.querySelectorAll('tbody tr')].every((row) => row.querySelector('th[scope=row]')),
      live: [...document.querySelectorAll('[aria-live], [role=status]')].map((each) => each.id),
      news: document.getElementById('news').textContent,
    }));
    assert.ok(names.landmarks && names.tables && names.rows);
    assert.deepEqual(names.live, ['explain-verdict', 'news'], 'what changes every second is not read out');
    assert.match(names.news, /^Rollback\. 5 wrong\. First: HTTPRoute demo\/shop, spec\.rules\[0\]/);
  },

  async fitsScreensOfAnyWidth() {
    const {player, page} = await play(rollback());
    for (const text of ['', `${'x'.repeat(300)} ${HOSTILE}`]) {
      if (text !== '') player.show({...saying(text), time: '2026-03-01T12:01:00.000Z'});
      if (text !== '') await until(page, () => document.getElementById('connection-text').textContent.includes('12:01:00'));
      for (const width of [360, 820, 920, 1100, 1280, 1600]) {
        await page.setViewport({width, height: 780});
        const [needed, there] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(needed <= there, `${needed} of ${there} pixels with ${text.slice(0, 9)}`);
      }
    }
  },

  async findsOneRouteOf5000() {
    const {state, routes} = crowded(5000);
    const {player, page} = await play(state, routes);
    assert.equal((await rowsOf(page, 'routes')).length, 25);
    await page.click('#routes .all');
    assert.equal((await rowsOf(page, 'routes')).length, 200);
    assert.equal(await page.$eval('#routes .count', (count) => count.textContent), '200 of 5,000');
    await page.type('#routes .search', 'route-4711');
    await until(page, () => document.querySelector('#routes .count').textContent === '1 found');
    assert.match((await rowsOf(page, 'routes'))[0], /^team-31\/route-4711 kind HTTPRoute 28\.9 /);
    assert.ok(player.asked.every((query) => query.section === 'routes'));
  },

  async showsALostConnection() {
    const {player, page} = await play(good());
    await until(page, () => document.getElementById('connection-text').textContent.endsWith('Live 12:00:09'));
    const port = Number(new URL(player.url).port);
    await player.stop();
    await until(page, () => /Connection lost since \d\d:\d\d:\d\d$/.test(document.getElementById('connection-text').textContent));
    assert.ok(await page.$eval('body', (body) => body.classList.contains('stale')));
    assert.match(await page.$eval('#news', (news) => news.textContent), /^Connection lost since/);
    const next = await new Player(gateway, good()).start(port);
    await until(page, () => document.getElementById('connection-text').textContent.endsWith('Live 12:00:09'));
    await page.click('#pause');
    await until(page, () => document.getElementById('connection-text').textContent.includes('Paused at'));
    await next.untilNobodyLooks();
    await next.stop();
    problems.length = 0;  // the browser has told of the refused connections
  },
};

await checks[check]();
assert.deepEqual(problems, []);
for (const page of await browser.pages()) if (page.url() !== 'about:blank') await page.close();
process.exit(0);
