// A WebSocket server for tests: websocket_origin.mjs [CERT KEY]. Echoes every message; some texts are commands. Refuses
// /forbidden with 403. Prints its port, then each close as "closed CODE REASON".
import {readFileSync} from 'node:fs';
import {createServer as createPlain} from 'node:http';
import {createServer as createTls} from 'node:https';
import {WebSocketServer} from 'ws';

const [cert, key] = process.argv.slice(2);
const server = cert ? createTls({cert: readFileSync(cert), key: readFileSync(key)}) : createPlain();
const sockets = new WebSocketServer({
  server,
  maxPayload: 64 << 20,
  handleProtocols: (offered) => (offered.has('chat') ? 'chat' : false),
  verifyClient: ({req}, done) => done(req.url !== '/forbidden', 403, 'not you'),
});

sockets.on('connection', (socket, request) => {
  socket.on('message', (data, isBinary) => {
    const order = isBinary ? '' : data.toString();
    if (order === 'close') return socket.close(4001, 'as told');
    if (order === 'die') return socket.terminate();
    if (order === 'ping') return socket.ping('from the origin');
    if (order === 'headers') return socket.send(JSON.stringify(request.headers));
    socket.send(data, {binary: isBinary});
  });
  socket.on('pong', (data) => socket.send(`pong: ${data}`));
  socket.on('error', () => {});
  socket.on('close', (code, reason) => console.log(`closed ${code} ${reason}`));
});

server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
