// undici's ProxyAgent, which asks for a tunnel for every origin.
import {ProxyAgent, request} from 'undici';
import {exercise, proxyUrl} from './proxied.mjs';

const dispatcher = new ProxyAgent(proxyUrl);

await exercise({
  async get(url) {
    const answer = await request(url, {dispatcher});
    return {status: answer.statusCode, text: await answer.body.text()};
  },
  async post(url, body) {
    const answer = await request(url, {dispatcher, method: 'POST', body});
    return Buffer.from(await answer.body.arrayBuffer());
  },
});
await dispatcher.close();
