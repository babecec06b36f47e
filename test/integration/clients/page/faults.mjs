// Looks at the page of a gateway while faults are made: faults.mjs BROWSER GATEWAY URL FAULT... It asks the page how the
// gateway would handle a request for URL and says "explained". Then it waits for each FAULT, texts with "|" between them
// that one line of "What is wrong" must hold, and says "seen". Ends with an error if the page complains.
import assert from 'node:assert/strict';
import {connect, look, until} from './browsing.mjs';

const [endpoint, gateway, url, ...faults] = process.argv.slice(2);
const problems = [];
const page = await look(await connect(endpoint), gateway, problems);

await page.type('#explain-url', url);
await page.keyboard.press('Enter');
await until(page, () => document.querySelector('#explain-answer section') !== null);
console.log(`explained: ${await page.$eval('#explain-verdict', (verdict) => verdict.textContent)}`);

for (const fault of faults) {
  await until(page, (texts) => [...document.querySelectorAll('#wrong tbody tr')].some((row) => texts.every((text) => row.textContent.includes(text))), fault.split('|'));
  console.log(`seen: ${await page.$eval('#state', (state) => state.textContent)}`);
}
assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script').length), 0, 'a message became markup');
assert.deepEqual(problems, []);
await page.close();
process.exit(0);
