// A WebSocket server for tests: websocket_origin.mjs [CERT KEY]. Serves by websocket_commands.mjs. Refuses /forbidden with
// 403. Prints its port, then each close.
import {readFileSync} from 'node:fs';
import {createServer as createPlain} from 'node:http';
import {createServer as createTls} from 'node:https';
import {WebSocketServer} from 'ws';
import {serve} from './websocket_commands.mjs';

const [cert, key] = process.argv.slice(2);
const server = cert ? createTls({cert: readFileSync(cert), key: readFileSync(key)}) : createPlain();
const sockets = new WebSocketServer({
  server,
  maxPayload: 64 << 20,
  handleProtocols: (offered) => (offered.has('chat') ? 'chat' : false),
  verifyClient: ({req}, done) => done(req.url !== '/forbidden', 403, 'not you'),
});

sockets.on('connection', (socket, request) => serve(socket, request.headers));

server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
