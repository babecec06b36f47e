// What every HTTP client of the forward proxy must be able to do, whatever its library: NAME.mjs PROXY_URL ORIGIN_URL... The origins are
// sluice-echo, over TLS if the URL says so. exercise() throws at the first assertion that fails.
import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';

export const [proxyUrl, ...origins] = process.argv.slice(2);

/// get(url) returns {status, text}; post(url, body) returns the body of the response as a Buffer.
export async function exercise({get, post}) {
  for (const origin of origins) {
    const {host} = new URL(origin);
    const got = await get(`${origin}/a/b?c=d`);
    assert.equal(got.status, 200, `${origin}: ${got.text}`);
    const seen = JSON.parse(got.text);
    assert.equal(seen.target, '/a/b?c=d', origin);
    assert.equal(seen.authority, host, origin);
    assert.deepEqual(seen.headers.filter((field) => /^(proxy-|keep-alive:)/i.test(field)), [], origin);

    const body = randomBytes(1_000_000);
    assert.ok(body.equals(await post(`${origin}/echo`, body)), `${origin}: body`);

    const missing = await get(`${origin}/status/404`);
    assert.equal(missing.status, 404, origin);

    const many = await Promise.all(Array.from({length: 20}, async (_, i) => (await get(`${origin}/bytes/${i * 1000}`)).text.length));
    assert.deepEqual(many, many.map((_, i) => i * 1000), origin);
  }
}
