// A web server as a child process: the webhook receiver, or the least that node:http can do.
import { createServer } from 'node:http';
import { HookReceiver } from '@squall/probes/webhook';

const KINDS = {
  async ours() {
    const hook = await HookReceiver.open({ host: '127.0.0.1', port: 0, clockDomain: 'bench' });
    return { port: hook.port, messages: () => hook.stats().unique };
  },
  /** Reads the body to its end and answers, nothing else. */
  async bare() {
    let requests = 0;
    const server = createServer((request, response) => {
      request.on('data', () => undefined);
      request.on('end', () => {
        requests += 1;
        response.writeHead(200, { 'content-length': 0 });
        response.end();
      });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: server.address().port, messages: () => requests };
  },
};

const { port, messages } = await KINDS[process.argv[2]]();
process.send({ port });
process.on('message', () => process.send({ messages: messages() }));
