// Opens large runs and measures: time to the first picture, memory, pictures a second.
//   node tests/viewer/bench.mjs PROGRAM [CASE] [--keep FOLDER]
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PATIENCE, cleanUp, closeAll, folder as scratch, openBrowser, program, serve, tenon } from './harness.mjs';

const words = process.argv.slice(3);
const kept = words.includes('--keep') ? resolve(words.splice(words.indexOf('--keep'), 2)[1]) : scratch;
const only = words[0] ?? '';
mkdirSync(kept, { recursive: true });

// Boxes that drift without touching: an hour of them in one gigabyte.
function drift() {
  const bodies = [];
  for (let i = 0; i < 200; i++)
    bodies.push({ name: `box ${i}`, shape: 'block', position: [(i % 10) * 2, Math.floor(i / 100) * 2, Math.floor(i / 10) % 10 * 2], angular_velocity: [0.1, 0.002 * i, 0], collides: false });
  const file = join(kept, 'drift.json');
  writeFileSync(file, JSON.stringify({ tenon: 1, name: 'drift', gravity: [0, 0, 0], seconds: 3600, method: { type: 'impulse', dt: 0.125 },
    shapes: { block: { shape: { type: 'box', size: [1, 0.6, 0.8] } } }, bodies }));
  return ['run', file, '--record-every', '1', '--checkpoint-wall', '0'];
}

const quiet = ['--quiet', '--allow-unconverged'];
const cases = [
  { name: 'wrecking-ball', what: 'paper size', run: () => ['run', 'wrecking-ball', '--set', 'preset=paper', '--seconds', '0.1', '--fps', '100'], first: 3 },
  { name: 'chain-net-16', what: '300K triangles', run: () => ['run', 'chain-net', '--set', 'preset=paper', '--set', 'n=16', '--seconds', '0.05', '--fps', '100'], first: 3 },
  { name: 'huge-net', what: '27,650 rings', run: () => ['run', 'chain-net', '--set', 'preset=paper', '--set', 'n=97', '--seconds', '0'] },
  { name: 'hour', what: 'one hour, 1 GB', run: drift },
  { name: 'elastic', what: 'octopus-soft', run: () => ['run', 'octopus-soft', '--seconds', '0.1', '--fps', '100'] },
];

/** Kilobytes that a process and what it has started hold, shared pages counted by their share. */
function memoryOf(pid) {
  try {
    return Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]);
  } catch {
    return 0; // it has ended
  }
}
function family(pid) {
  const parents = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      parents.set(Number(entry), Number(readFileSync(`/proc/${entry}/stat`, 'utf8').replace(/.*\) /, '').split(' ')[1]));
    } catch { /* ended */ }
  }
  const all = [pid];
  for (let i = 0; i < all.length; i++) for (const [child, parent] of parents) if (parent === all[i]) all.push(child);
  return all;
}

async function measure(c) {
  const file = join(kept, `${c.name}.tenon`);
  if (!existsSync(file)) tenon(...c.run(), '-o', file, ...quiet);
  const { url, child } = await serve(file);
  const browser = await openBrowser();
  const session = await browser.newBrowserCDPSession();
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, bypassCSP: true });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const work = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, p) => sum + p.cpuTime, 0);
  const before = await work();
  const start = Date.now();
  await page.goto(url, { timeout: PATIENCE });
  await page.waitForFunction(() => window.tenon?.stage?.drawn > 0 && window.tenon.views.length && window.tenon.views[0].moment, null, { polling: 20, timeout: PATIENCE });
  const first = (Date.now() - start) / 1000;
  const processor = (await work()) - before; // of the browser: what a busy machine does not change
  // plays, turned a little before each picture so that each is drawn anew
  const rate = await page.evaluate(async () => {
    const { tenon } = window;
    tenon.player.playing = true;
    const until = performance.now() + 4000;
    let pictures = 0;
    const begin = performance.now();
    while (performance.now() < until || pictures < 2) {
      await new Promise((done) => requestAnimationFrame(done));
      tenon.stage.camera.position.x += 1e-4;
      tenon.render();
      pictures++;
      if (performance.now() > until + 30000) break;
    }
    return (1000 * pictures) / (performance.now() - begin);
  });
  // all over the run: what is read must be let go again
  await page.evaluate(async () => {
    const { tenon } = window;
    const view = tenon.views[0];
    const places = Math.min(40, view.frames.count - 1);
    for (let i = 1; i <= places; i++) {
      tenon.player.seek((view.frames.end * i) / places);
      tenon.render();
      await new Promise((done) => setTimeout(done, 60));
    }
  });
  const processes = (await session.send('SystemInfo.getProcessInfo')).processInfo;
  const of = (type) => processes.filter((p) => p.type === type).reduce((sum, p) => sum + memoryOf(p.id), 0) / 1024;
  const heap = await page.evaluate(() => performance.memory.usedJSHeapSize / 2 ** 20);
  const triangles = await page.evaluate(() => window.tenon.stage.renderer.info.render.triangles);
  const server = family(child.pid).reduce((sum, pid) => sum + memoryOf(pid), 0) / 1024;
  return { file: statSync(file).size / 1e6, first, processor, rate, heap, triangles, tab: of('renderer'), drawing: of('GPU'), server };
}

let failed = 0;
console.log('case           of               file MB   first picture s (processor s)   pictures/s   triangles   tab MB (heap)   drawing MB   server MB');
try {
  for (const c of cases) {
    if (!c.name.includes(only)) continue;
    try {
      const m = await measure(c);
      const good = (!c.first || m.first < c.first) && m.tab < 1000 && m.server < 1000;
      if (!good) failed++;
      console.log(`${c.name.padEnd(14)} ${c.what.padEnd(15)} ${m.file.toFixed(1).padStart(8)} ${`${m.first.toFixed(2)} (${m.processor.toFixed(2)})`.padStart(31)} ${m.rate.toFixed(1).padStart(12)} ` +
        `${String(m.triangles).padStart(11)} ${`${m.tab.toFixed(0)} (${m.heap.toFixed(0)})`.padStart(15)} ${m.drawing.toFixed(0).padStart(12)} ${m.server.toFixed(0).padStart(11)}  ${good ? '' : 'FAIL'}`);
    } catch (error) {
      failed++;
      console.log(`${c.name.padEnd(14)} FAIL ${error.message.split('\n')[0]}`);
    } finally {
      await closeAll();
    }
  }
} finally {
  await cleanUp();
}
console.log(`drawn by software; limits: first picture 3 s for the first two, 1,000 MB for the tab and for the server (${program.split('/').pop()})`);
process.exit(failed ? 1 : 0);
