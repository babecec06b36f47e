// The SDK of OpenAI, with undici's ProxyAgent as its manual says: proxied_openai.mjs PROXY_URL BASE_URL; the origin is model_provider.mjs.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import {fetch, ProxyAgent} from 'undici';
import {origins, proxyUrl} from './proxied.mjs';

const dispatcher = new ProxyAgent(proxyUrl);
const client = new OpenAI({baseURL: origins[0], apiKey: 'secret', maxRetries: 0, fetch, fetchOptions: {dispatcher}});
const request = {model: 'any', messages: [{role: 'user', content: 'Hello'}]};

const whole = await client.chat.completions.create(request);
assert.equal(whole.choices[0].message.content, 'You said: Hello');

let text = '';
for await (const piece of await client.chat.completions.create({...request, stream: true})) text += piece.choices[0].delta.content;
assert.equal(text, 'You said: Hello');
await dispatcher.close();
