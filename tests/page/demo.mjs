// A running `figaro demo` with a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_MS = 60_000;

export class Demo {
  #child;
  #folder = mkdtempSync(join(tmpdir(), 'figaro-page-'));

  constructor(figaro, kept) {
    this.figaro = figaro;
    this.arguments = kept ? ['--store', join(this.#folder, 'store')] : [];
  }

  /** Starts it on a port, or on any free one; gives when it listens. */
  async start(port = 0) {
    // Nothing of this machine's environment chooses another model.
    const env = { PATH: process.env.PATH, HOME: this.#folder, TMPDIR: this.#folder };
    this.#child = spawn(this.figaro, ['demo', '--port', String(port), ...this.arguments], { cwd: this.#folder, env });
    let printed = '';
    this.url = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the demo does not start: ${printed}`)), START_MS);
      const read = (data) => {
        printed += data;
        const url = /open (http:\S+)/.exec(printed)?.[1];
        if (url) { clearTimeout(late); resolve(url); }
      };
      this.#child.stdout.on('data', read);
      this.#child.stderr.on('data', (data) => { read(data); this.complaints = (this.complaints ?? '') + data; });
      this.#child.once('exit', (code) => { clearTimeout(late); reject(new Error(`the demo ended with ${code}: ${printed}`)); });
    });
    return this;
  }

  get port() { return new URL(this.url).port; }

  /** Ends it as Ctrl-C does. */
  async stop() {
    const child = this.#child;
    if (!child || child.exitCode != null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }

  async remove() {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
