// Node's http2 as a client of the proxy: over one connection of HTTP/2, requests with the scheme http, and CONNECT for a tunnel of each
// request with the scheme https.
import http2 from 'node:http2';
import https from 'node:https';
import {once} from 'node:events';
import tls from 'node:tls';
import {exercise, proxyUrl} from './proxied.mjs';

const session = http2.connect(proxyUrl);

async function bytesOf(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

async function answerOf(stream) {
  const [headers] = await once(stream, 'response');
  return {status: headers[':status'], body: await bytesOf(stream)};
}

/// Returns a connection of TLS with the origin, in a tunnel.
async function tunnelTo({hostname, host}) {
  const stream = session.request({':method': 'CONNECT', ':authority': host});
  const [headers] = await once(stream, 'response');
  if (headers[':status'] !== 200) throw new Error(`CONNECT ${host}: ${headers[':status']}`);
  return tls.connect({socket: stream, servername: hostname});
}

async function call(method, text, body) {
  const url = new URL(text);
  const path = url.pathname + url.search;
  if (url.protocol === 'http:') {
    const stream = session.request({':method': method, ':scheme': 'http', ':authority': url.host, ':path': path}, {endStream: !body});
    if (body) stream.end(body);
    return answerOf(stream);
  }
  const connection = await tunnelTo(url);
  const request = https.request(url, {method, createConnection: () => connection, headers: {host: url.host}});
  request.end(body);
  const [response] = await once(request, 'response');
  return {status: response.statusCode, body: await bytesOf(response)};
}

await exercise({
  async get(url) {
    const {status, body} = await call('GET', url);
    return {status, text: body.toString()};
  },
  async post(url, body) {
    return (await call('POST', url, body)).body;
  },
});
session.close();
