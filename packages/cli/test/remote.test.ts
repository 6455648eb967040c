import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { runList } from '@squall/controller/api';
import { SquallError } from '@squall/core/errors';
import { afterEach, describe, expect, it } from 'vitest';
import { PlanRefused } from '../src/plan-refused.ts';
import { ControllerClient } from '../src/remote/client.ts';
import { type RemoteEvent, runEventsOf } from '../src/remote/events.ts';
import { clientOf } from '../src/remote/options.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
  server = null;
});

/** A client of a controller that answers as the handlers say, the last one for ever. */
async function clientFor(...handlers: readonly Handler[]): Promise<ControllerClient> {
  let count = 0;
  server = createServer((request, response) => {
    handlers[Math.min(count++, handlers.length - 1)]?.(request, response);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return new ControllerClient({ url: `http://127.0.0.1:${port}`, token: 'secret' });
}

function answers(status: number, body: unknown, type = 'application/json'): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

async function read(client: ControllerClient, signal = new AbortController().signal) {
  const events: RemoteEvent[] = [];
  for await (const event of runEventsOf(client, 'r1', signal)) events.push(event);
  return events;
}

const breaks: Handler = (request) => request.socket.destroy();

describe('a request to a controller', () => {
  it('shows the token and takes what fits the schema', async () => {
    const shown: (string | undefined)[] = [];
    const client = await clientFor((request, response) => {
      shown.push(request.headers.authorization, request.url);
      answers(200, { runs: [], next: null })(request, response);
    });
    const query = [['label', 'a=b & c']] as const;
    expect(await client.json('/v1/runs', runList, { query })).toEqual({ runs: [], next: null });
    expect(shown).toEqual(['Bearer secret', '/v1/runs?label=a%3Db+%26+c']);
  });

  it('is sent again when the line breaks, and given up in the end', async () => {
    const back = await clientFor(breaks, answers(200, { runs: [], next: null }));
    expect(await back.json('/v1/runs', runList)).toEqual({ runs: [], next: null });
    server?.close();
    const gone = await clientFor(breaks);
    await expect(gone.request('/v1/runs')).rejects.toMatchObject({ code: 'SQ_REMOTE' });
  }, 15_000);

  it('fails with what the controller says', async () => {
    const problem = {
      type: 'urn:squall:error:SQ_STATE',
      title: 'Conflict',
      status: 409,
      detail: 'the run is over',
      code: 'SQ_STATE',
      hint: 'a hint',
      path: 'r1',
    };
    const client = await clientFor(answers(409, problem, 'application/problem+json'));
    const error = await client.request('/x').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SquallError);
    const { code, hint, path, detail: message } = problem;
    expect(error).toMatchObject({ code, hint, path, message });
  });

  it('tells the faults of a plan as the file’s own', async () => {
    const client = await clientFor(
      answers(422, {
        type: '',
        title: '',
        status: 422,
        detail: 'the plan is wrong',
        code: 'SQ_PLAN',
        errors: [{ line: 3, column: 5, path: 'groups', message: 'is missing', code: 'SQ_PLAN' }],
      }),
    );
    const error = await client
      .request('/v1/runs', { planName: 'my.yaml' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PlanRefused);
    expect(String(error)).toContain('my.yaml:3:5: error: groups: is missing [SQ_PLAN]');
  });

  it.each([
    ['a page', 200, '<html>'],
    ['another form', 200, { runs: 'many' }],
    ['no problem of ours', 500, 'oops'],
    [
      'a code of a newer version',
      400,
      { code: 'SQ_NEW', type: '', title: '', status: 400, detail: 'x' },
    ],
  ])('that is answered with %s fails as a strange one', async (_name, status, body) => {
    const client = await clientFor(answers(status, body));
    await expect(client.json('/v1/runs', runList)).rejects.toMatchObject({ code: 'SQ_REMOTE' });
  });

  it('needs an address', () => {
    expect(() => clientOf({})).toThrow('which controller');
  });
});

describe('the events of a run', () => {
  const OPEN = { 'content-type': 'text/event-stream' };

  function sends(text: string, then: 'end' | 'break' | 'stay' = 'end'): Handler {
    return (request, response) => {
      response.writeHead(200, OPEN);
      response.write(text, () => {
        if (then === 'end') response.end();
        if (then === 'break') request.socket.destroy();
      });
    };
  }

  const FIRST =
    ': hello\n\nid: a-1\nevent: state\ndata: {"n":1}\n\n:\n\nid: a-2\nevent: stage\ndata: {"n":2}\n\n';
  const LAST = 'id: a-3\nevent: done\ndata: {"n":3}\n\n';

  it('come in order, comments left out, until the run is over', async () => {
    const client = await clientFor(sends(FIRST + LAST, 'stay'));
    expect(await read(client)).toEqual([
      { type: 'state', data: { n: 1 } },
      { type: 'stage', data: { n: 2 } },
      { type: 'done', data: { n: 3 } },
    ]);
  });

  it('go on behind the last one when the line breaks or the stream ends', async () => {
    const asked: unknown[] = [];
    const noted =
      (handler: Handler): Handler =>
      (request, response) => {
        asked.push(request.headers['last-event-id']);
        handler(request, response);
      };
    const client = await clientFor(
      noted(sends(FIRST.slice(0, -5), 'break')),
      noted(breaks),
      noted(answers(503, '')),
      noted(sends('id: a-2\nevent: stage\ndata: {"n":2}\n\n')),
      noted(sends(LAST)),
    );
    expect((await read(client)).map(({ type }) => type)).toEqual(['state', 'stage', 'done']);
    expect(asked).toEqual([undefined, 'a-1', 'a-1', 'a-1', 'a-2']);
  }, 20_000);

  it('end where there is nothing more to come', async () => {
    const client = await clientFor((_request, response) => response.writeHead(204).end());
    expect(await read(client)).toEqual([]);
  });

  it('fail where the run is not there', async () => {
    const problem = { type: '', title: '', status: 404, detail: 'no run', code: 'SQ_NOT_FOUND' };
    const client = await clientFor(answers(404, problem));
    await expect(read(client)).rejects.toMatchObject({ code: 'SQ_NOT_FOUND' });
  });

  it('end when nobody waits any more', async () => {
    const leaving = new AbortController();
    const client = await clientFor(sends(FIRST, 'stay'));
    setTimeout(() => leaving.abort(), 200);
    expect(await read(client, leaving.signal)).toHaveLength(2);
  });
});
