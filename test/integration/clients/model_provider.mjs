// A provider of models that answers a chat with what was said: model_provider.mjs CERTIFICATE_FILE KEY_FILE, over TLS. Prints
// "listening on PORT"; ends with its parent.
import {readFileSync} from 'node:fs';
import {createServer} from 'node:https';

const [certificateFile, keyFile] = process.argv.slice(2);

function complete(response, content) {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({id: '1', object: 'chat.completion', choices: [{index: 0, message: {role: 'assistant', content}}]}));
}

function stream(response, content) {
  response.setHeader('content-type', 'text/event-stream');
  for (const piece of content.split(/(?= )/)) {
    response.write(`data: ${JSON.stringify({id: '1', object: 'chat.completion.chunk', choices: [{index: 0, delta: {content: piece}}]})}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

const server = createServer({cert: readFileSync(certificateFile), key: readFileSync(keyFile)}, async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  if (request.url !== '/v1/chat/completions' || request.headers.authorization !== 'Bearer secret') {
    response.writeHead(404).end();
    return;
  }
  const chat = JSON.parse(text);
  const content = `You said: ${chat.messages[0].content}`;
  if (chat.stream) stream(response, content);
  else complete(response, content);
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
