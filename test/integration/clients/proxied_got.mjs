// got with the agents that its manual names for proxies: absolute-form for origins of http, and a tunnel for those of https.
import got from 'got';
import {HttpProxyAgent} from 'http-proxy-agent';
import {HttpsProxyAgent} from 'https-proxy-agent';
import {exercise, proxyUrl} from './proxied.mjs';

const options = {keepAlive: true, maxSockets: 4};
const agent = {http: new HttpProxyAgent(proxyUrl, options), https: new HttpsProxyAgent(proxyUrl, options)};
const client = got.extend({agent, throwHttpErrors: false, retry: {limit: 0}});

await exercise({
  async get(url) {
    const {statusCode, body} = await client.get(url);
    return {status: statusCode, text: body};
  },
  async post(url, body) {
    return (await client.post(url, {body, responseType: 'buffer'})).body;
  },
});
agent.http.destroy();
agent.https.destroy();
