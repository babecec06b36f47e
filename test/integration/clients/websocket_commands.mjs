// The server's end of a WebSocket in tests: echoes every message; some texts are commands. Prints each close as "closed
// CODE REASON".
export function serve(socket, headers) {
  socket.on('message', (data, isBinary) => {
    const order = isBinary ? '' : data.toString();
    if (order === 'close') return socket.close(4001, 'as told');
    if (order === 'die') return socket.terminate();
    if (order === 'ping') return socket.ping('from the origin');
    if (order === 'headers') return socket.send(JSON.stringify(headers));
    socket.send(data, {binary: isBinary});
  });
  socket.on('pong', (data) => socket.send(`pong: ${data}`));
  socket.on('error', () => {});
  socket.on('close', (code, reason) => console.log(`closed ${code} ${reason}`));
}
