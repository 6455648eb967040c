// A controller as a service over a store, on any free port of this host.
//
//   node controller-host.js STORE_FILE
//
// Prints its port; end of input ends it.
import { startService } from '@squall/controller/service';

const service = await startService({
  host: '127.0.0.1',
  port: 0,
  store: process.argv[2],
  version: 'bench',
  retentionMs: null,
});
process.stdout.write(`${service.port}\n`);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
