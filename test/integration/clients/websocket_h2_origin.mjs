// A WebSocket server over HTTP/2 (RFC 8441), in plaintext, that serves as websocket_origin.mjs does. Prints its port, then
// each close.
import {createServer} from 'node:http2';
import WebSocket from 'ws';
import {serve} from './websocket_commands.mjs';

const server = createServer({settings: {enableConnectProtocol: true}});

server.on('stream', (stream, headers) => {
  const isHandshake = headers[':method'] === 'CONNECT' && headers[':protocol'] === 'websocket' &&
    headers['sec-websocket-version'] === '13' && !('sec-websocket-key' in headers);
  if (!isHandshake || headers[':path'] === '/forbidden') {
    stream.respond({':status': isHandshake ? 403 : 400});
    return stream.end('not you');
  }
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  stream.respond({':status': 200, ...(offered.includes('chat') && {'sec-websocket-protocol': 'chat'})});
  const socket = new WebSocket(null, undefined, {autoPong: true, closeTimeout: 30000});
  // The client asks for these two by the names of HTTP/1.1.
  serve(socket, {...headers, upgrade: headers[':protocol'], connection: 'upgrade'});
  socket.setSocket(stream, Buffer.alloc(0), {maxPayload: 64 << 20});
});

server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
