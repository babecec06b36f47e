// What the checks of the page share: a page in the browser that the tests have started, and waiting for what it shows.
import puppeteer from 'puppeteer-core';

const PATIENCE_MS = 100_000;  // a passing check never waits for it

export async function connect(endpoint) {
  return puppeteer.connect({browserWSEndpoint: endpoint, defaultViewport: {width: 1280, height: 900}, protocolTimeout: PATIENCE_MS});
}

/// Opens the page and returns when it has drawn a state. `problems` gets what its scripts complain about. Without a
/// viewport the page has that of the browser.
export async function look(browser, url, problems = [], viewport = null) {
  const page = await browser.newPage();
  if (viewport) await page.setViewport(viewport);
  page.setDefaultTimeout(PATIENCE_MS);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('dialog', (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(url, {waitUntil: 'domcontentloaded'});
  await until(page, () => document.querySelector('#sections > section') !== null);
  return page;
}

/// Waits until a function holds in the page, which is asked after each change of the document. The function is sent as
/// text to the browser itself, because the page's own policy forbids to make scripts of texts.
export function until(page, holds, ...given) {
  return page.evaluate(`new Promise((done) => {
    const look = () => {
      if (!(${holds})(...${JSON.stringify(given)})) return false;
      done();
      return true;
    };
    if (look()) return;
    const changes = new MutationObserver(() => look() && changes.disconnect());
    changes.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
  })`);
}

/// Returns the texts of the rows of a section, each as one line.
export function rowsOf(page, section) {
  return page.$$eval(`#${section} tbody tr`, (rows) => rows.map((row) => row.innerText.replace(/\s+/g, ' ')));
}
