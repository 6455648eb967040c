import { parentPort, workerData } from 'node:worker_threads';
import { readPlan } from '@squall/core/plan';
import type { ReadTask } from './plan-reader.ts';
import { SubmittedFiles } from './submitted-files.ts';

/** The program of a thread that reads one plan and tells what came of it. */
const { text, options, files }: ReadTask = workerData;
const source = files === null ? null : new SubmittedFiles(files);
const read = readPlan(text, { ...options, files: source });
// Who asks has the files already.
parentPort?.postMessage(read.ok ? { ...read, files: {} } : read, []);
