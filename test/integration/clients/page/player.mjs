// Plays states to the page: its data is ours, and all else is that of a gateway, or of a folder with the page's files.
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';

const TYPES = {html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml'};

async function fileOf(assets, path, accept) {
  if (assets.startsWith('http')) {
    const answer = await fetch(assets + path, {headers: {accept}});
    return {status: answer.status, headers: Object.fromEntries(answer.headers), body: Buffer.from(await answer.arrayBuffer())};
  }
  const name = path === '/' ? 'page.html' : path.replace('/page/', '');
  const type = TYPES[name.split('.').pop()];
  if (type === undefined) return {status: 404, headers: {}, body: ''};
  return {status: 200, headers: {'content-type': `${type}; charset=utf-8`}, body: readFileSync(`${assets}/${name}`)};
}

function later() {
  const made = {};
  made.promise = new Promise((resolve) => { made.resolve = resolve; });
  return made;
}

export class Player {
  #lookers = new Set();
  #state;
  #rows;
  #server;
  #left = later();
  asked = [];  // the queries of searches and of explanations
  explanation = {status: 200, body: '{}'};

  constructor(assets, state, rows = []) {
    this.#state = state;
    this.#rows = rows;
    this.#server = createServer((request, response) => this.#serve(assets, request, response));
  }

  async start(port = 0) {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${this.#server.address().port}/`;
    return this;
  }

  async #serve(assets, request, response) {
    const {pathname, searchParams} = new URL(request.url, 'http://localhost');
    if (pathname === '/page/data') {
      response.writeHead(200, {'content-type': 'text/event-stream'});
      this.#lookers.add(response);
      response.on('close', () => {
        this.#lookers.delete(response);
        if (this.#lookers.size === 0) this.#left.resolve();
      });
      return this.#send(response);
    }
    if (pathname === '/page/rows' || pathname === '/explain') this.asked.push(Object.fromEntries(searchParams));
    if (pathname === '/page/rows') {
      const found = this.#rows.filter((row) => row.route.includes(searchParams.get('search')));
      return response.end(JSON.stringify({rows: found.slice(0, 200), total: found.length}));
    }
    if (pathname === '/explain') return response.writeHead(this.explanation.status).end(this.explanation.body);
    const file = await fileOf(assets, pathname, request.headers.accept ?? '*/*');
    delete file.headers['content-length'];
    response.writeHead(file.status, file.headers).end(file.body);
  }

  #send(looker) {
    looker.write(`data: ${JSON.stringify(this.#state)}\n\n`);
  }

  show(state) {
    this.#state = state;
    for (const looker of this.#lookers) this.#send(looker);
  }

  /// Waits until no page has its stream open.
  async untilNobodyLooks() {
    this.#left = later();
    if (this.#lookers.size !== 0) await this.#left.promise;
  }

  /// Ends as a gateway that has died.
  async stop() {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
