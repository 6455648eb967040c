import { parentPort, workerData } from 'node:worker_threads';
import { readPlan } from '@squall/core/plan';
import type { ReadTask } from './plan-reader.ts';

/** The program of a thread that reads one plan and tells what came of it. */
const { text, options }: ReadTask = workerData;
parentPort?.postMessage(readPlan(text, options), []);
