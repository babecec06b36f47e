// Makes the pictures of the page in the reference: pictures.mjs ASSETS FOLDER. ASSETS is the admin port of a gateway
// (http://127.0.0.1:9901), or the folder with the page's files.
import puppeteer from 'puppeteer-core';
import {look, until} from './browsing.mjs';
import {backendDown, good, rollback} from './states.mjs';
import {Player} from './player.mjs';

const [assets, folder] = process.argv.slice(2);
const WIDE = {width: 1280, height: 760};
const PHONE = {width: 360, height: 780, deviceScaleFactor: 1.5, isMobile: true, hasTouch: true};
/// The pictures show ordinary names.
const plain = (state) => JSON.parse(JSON.stringify(state).replaceAll('<img src=x onerror=alert(1)>', 'orders').replaceAll('\u202e<b>', '7'));

const PICTURES = [
  {name: 'good', state: good(), viewport: WIDE},
  {name: 'rollback', state: plain(rollback()), viewport: WIDE},
  {name: 'backend-down', state: backendDown(), viewport: WIDE, scheme: 'dark'},
  {name: 'phone', state: plain(rollback()), viewport: PHONE},
];

/// Gives the lines above the numbers some minutes of history.
async function passTime(page, player, state) {
  for (let i = 0; i < 90; ++i) {
    const wave = 1 + Math.sin(i / 7) / 6 + Math.sin(i * 2.3) / 20;
    player.show({...state, rate: state.rate * wave, p50Ms: state.p50Ms * wave, p99Ms: state.p99Ms / wave, connections: state.connections + (i % 5)});
  }
  player.show(state);
  await until(page, () => document.querySelector('.line polyline').points.numberOfItems > 90);
}

const browser = await puppeteer.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--force-color-profile=srgb', '--hide-scrollbars']});
for (const {name, state, viewport, scheme} of PICTURES) {
  const player = await new Player(assets, state).start();
  const page = await look(browser, player.url, [], viewport);
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme ?? 'light'}]);
  await passTime(page, player, state);
  await page.screenshot({path: `${folder}/${name}.png`});
  await page.close();
  await player.stop();
}
await browser.close();
