import { z } from 'zod';
import type { App, RouteScene } from '../app.ts';
import { MAX_STREAMS } from '../limits.ts';
import { sendProblem } from '../problem.ts';
import { eventsHeader, idParam, problem } from '../schemas.ts';
import { EventStream } from '../event-stream.ts';
import { EventLog } from '../../service/event-log.ts';

export function addEventRoutes(app: App, { service, closing }: RouteScene): void {
  const open = new Set<EventStream>();
  closing.addEventListener('abort', () => {
    for (const stream of open) stream.end();
  });
  app.get(
    '/v1/runs/:id/events',
    {
      exposeHeadRoute: false,
      schema: {
        tags: ['runs'],
        summary: 'What happens in a run, as server-sent events',
        description:
          'Events: `state`, `stage`, `agent`, `warning`, `progress` (each second), `done`, after which the stream ends. A reader that comes back with `Last-Event-ID` gets what it missed; an event `missed` says that there was more than is kept. Where the run is over and the reader has everything, the answer is 204.',
        params: idParam,
        headers: eventsHeader,
        response: {
          200: z.custom<EventStream>().describe('the events'),
          204: z.undefined().describe('the reader has everything'),
          404: problem,
          503: problem,
        },
      },
    },
    async (request, reply) => {
      const last = request.headers['last-event-id'] ?? null;
      const log = (await service.events(request.params.id)) ?? (await pastLog(request.params.id));
      if (log.isOver(last)) return reply.code(204).send();
      if (open.size >= MAX_STREAMS) {
        return sendProblem(reply, 503, {
          detail: 'too many streams of events are open',
          code: 'SQ_BUSY',
        });
      }
      const stream = new EventStream(log, last);
      open.add(stream);
      stream.once('close', () => open.delete(stream));
      return reply
        .type('text/event-stream; charset=utf-8')
        .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
        .send(stream);
    },
  );

  /** Of a run that is long over only its end is told. */
  async function pastLog(id: string): Promise<EventLog> {
    const { verdict, validity, exitCode, reasons } = await service.run(id);
    const log = new EventLog('past');
    log.append('done', { verdict, validity, exitCode, reasons });
    log.end();
    return log;
  }
}
