// Drives the viewer's page over real runs and checks numbers and pixels.
//   node tests/viewer/run.mjs PROGRAM [NAME]
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { readFileSync, statSync } from 'node:fs';
import { check, cleanUp, clickBody, closeAll, count, difference, folder, near, open, openBrowser, pixel, scene, screenOf, seek, serve, settled, shot, state, tenon, until } from './harness.mjs';

const NASTY = '<img src=x onerror="document.title=\'hacked\'">\n"quoted" & more';
const box = (name, position, extra = {}) => ({ name, shape: { type: 'box', size: [0.4, 0.4, 0.4] }, position, ...extra });
const floor = { name: 'floor', type: 'static', shape: { type: 'box', size: [6, 0.2, 6] }, position: [0, -0.1, 0] };

// Three boxes fall: known heights while they are in the air.
const drop = scene('drop', {
  seconds: 1, gravity: [0, -10, 0], method: { type: 'impulse', dt: 0.005 },
  materials: { steel: { density: 7850 } },
  bodies: [floor, box('red', [0, 1.2, 0], { color: [0.9, 0.1, 0.1], material: 'steel' }), box('green', [1, 0.8, 0], { color: [0.1, 0.8, 0.1] }),
    box(NASTY, [-1, 0.6, 0], { color: [0.1, 0.2, 0.9] })],
});
// A pendulum, for joints.
const swing = scene('swing', {
  seconds: 0.6, method: { type: 'articulated', dt: 0.01 },
  bodies: [{ name: 'post', type: 'static', shape: { type: 'box', size: [0.1, 0.1, 0.1] }, position: [0, 1, 0] }, box('bob', [0.6, 1, 0])],
  joints: [{ name: 'pin', type: 'ball', bodies: ['post', 'bob'], point: [0, 1, 0] }],
});
const soft = scene('soft', {
  seconds: 0.3, method: { type: 'adaptive', dt: 0.01 },
  materials: { gum: { density: 1000, young: 2e4, poisson: 0.3 } },
  bodies: [{ ...floor, shape: { type: 'plane' }, position: [0, 0, 0] }],
  elastic: [{ name: 'jelly', shape: { type: 'box', size: [0.5, 0.5, 0.5] }, cell_size: 0.125, material: 'gum', position: [0, 0.27, 0] }],
});
const inside = scene('inside', {
  seconds: 0.1, gravity: [0, 0, 0], method: { type: 'impulse', dt: 0.01 },
  bodies: [box('left', [0, 0, 0]), box(NASTY, [0.2, 0.1, 0])],
});
const free = scene('weightless', {
  seconds: 60, gravity: [0, 0, 0], method: { type: 'impulse', dt: 0.01 },
  bodies: [box('left', [-0.6, 0, 0], { color: [0.9, 0.5, 0.1] }), box('right', [0.6, 0, 0], { color: [0.1, 0.5, 0.9] })],
});

const tests = {
  async 'numbers are those of the run'() {
    const { url } = await serve('drop.tenon');
    const page = await open(url);
    await page.evaluate(() => window.tenon.select(0, 1));
    const series = await (await page.request.get(`${url}api/runs/0/series?name=body.red.y`)).json();
    for (const t of [0, 0.2, 0.4]) {
      await seek(page, t);
      const s = await state(page);
      const i = series[0].time.findIndex((x) => Math.abs(x - s.time) < 1e-9);
      near(s.center[1], i >= 0 ? series[0].value[i] : 1.2 - 5 * t * t, i >= 0 ? 1e-5 : 0.01, `height at ${t}`);
      near(s.center[1], 1.2 - 5 * t * t, 5 * t * 0.005 + 1e-3, `free fall at ${t}`); // implicit Euler: h v / 2 and rounding
    }
    const speed = await page.locator('[data-fact=speed]').textContent();
    near(parseFloat(speed), 4, 0.06, 'speed after 0.4 s');
    check((await page.locator('[data-fact=mass]').textContent()).startsWith('502.4'), 'mass: 7850 * 0.4^3 = 502.4 kg');
    check((await page.locator('[data-fact=material]').textContent()) === 'steel', 'material');
    // between frames: interpolated
    const times = await page.evaluate(() => [...window.tenon.view.frames.times.slice(10, 12)]);
    const at = [];
    for (const t of [times[0], (times[0] + times[1]) / 2, times[1]]) {
      await seek(page, t);
      at.push((await state(page)).center[1]);
    }
    near(at[1], (at[0] + at[2]) / 2, 1e-5, 'half way between two frames');
    check(page.problems.length === 0, page.problems.join('; '));
  },

  async 'plays, pauses, steps, loops, changes speed'() {
    const { url } = await serve('drop.tenon');
    const page = await open(url);
    const frames = (await state(page)).frames;
    near(frames, 61, 1, 'frames of a second');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    check((await state(page)).frame === 2 || (await settled(page), (await state(page)).frame === 2), 'two steps on');
    await page.keyboard.press('ArrowLeft');
    await settled(page);
    check((await state(page)).frame === 1, 'one step back');
    await page.keyboard.press('.');
    check((await state(page)).speed === 2, 'twice as fast');
    for (let i = 0; i < 9; i++) await page.keyboard.press(',');
    check((await state(page)).speed === 1 / 16, 'the slowest is 1/16');
    for (let i = 0; i < 4; i++) await page.keyboard.press('.');
    await page.keyboard.press(' ');
    await until(page, () => window.tenon.state().time > 0.1);
    await page.keyboard.press(' ');
    const t = (await state(page)).time;
    await page.waitForTimeout(200);
    check((await state(page)).time === t, 'paused');
    await page.keyboard.press('End');
    await settled(page);
    near((await state(page)).time, 1, 1e-9, 'the end');
    const slider = page.locator('.track input');
    await slider.fill('0.5');
    await settled(page);
    near((await state(page)).time, 0.5, 1e-6, 'scrubbed');
    // loops
    await page.evaluate(() => {
      window.tenon.player.seek(0.97);
      window.tenon.player.speed = 4;
      window.tenon.player.toggle();
    });
    await until(page, () => window.tenon.state().time < 0.5);
  },

  async 'picks, searches, hides, isolates'() {
    const { url } = await serve('drop.tenon');
    const page = await open(url);
    const [x, y] = await clickBody(page, 'red');
    check((await state(page)).selected === 'red', `picked ${(await state(page)).selected}`);
    const seen = await pixel(page, x, y);
    await page.keyboard.press('h');
    await settled(page);
    check((await state(page)).hidden === 1, 'hidden');
    check(difference(await pixel(page, x, y), seen) > 60, 'a hidden body is not drawn');
    await page.keyboard.press('u');
    await page.keyboard.press('i');
    await settled(page);
    check((await state(page)).hidden === 3, 'isolated');
    const [gx, gy] = await screenOf(page, 'green');
    check((await page.evaluate(([a, b]) => window.tenon.stage.pick(a, b).body, [gx, gy])) !== 2, 'hidden bodies cannot be picked');
    await page.keyboard.press('u');
    await page.keyboard.press('Escape');
    await page.locator('.search').fill('QUOTED');
    check((await page.locator('.item').count()) === 1, 'search finds one');
    check((await page.locator('.item img').count()) === 0 && (await page.title()) !== 'hacked', 'a name is text');
    await page.locator('.item').click();
    await settled(page);
    check((await state(page)).selected === NASTY, 'chosen in the list');
    check((await page.locator('.chosen-name').textContent()) === NASTY, 'shown as it is');
    check((await page.locator('.inspector img').count()) === 0, 'no element comes from a name');
    await page.locator('.search').fill('nobody');
    check((await page.locator('.list').textContent()).includes('No body'), 'nothing found is said');
  },

  async 'contacts, colours, clipping, joints'() {
    const { url } = await serve('rest.tenon');
    const page = await open(url);
    await seek(page, 1);
    check((await count(page, [255, 77, 77], 30)) < 20, 'no arrows yet');
    await page.keyboard.press('c');
    await until(page, () => window.tenon.state().arrows > 0);
    const recorded = await page.evaluate(() => window.tenon.view.contacts.total);
    check((await state(page)).arrows === recorded && recorded >= 12, `an arrow for each of ${recorded} contacts`);
    check((await count(page, [255, 77, 77], 30)) > 100, 'arrows are drawn');
    // at rest the floor carries the weight: m g = 502.4 * 10 N of 'red'
    const total = await page.evaluate(() => {
      const { contacts } = window.tenon.view;
      let sum = 0;
      for (let i = 0; i < contacts.count; i++) if (contacts.pairs[2 * i] === 1 || contacts.pairs[2 * i + 1] === 1) sum += Math.abs(contacts.numbers[10 * i + 7]);
      return sum;
    });
    near(total, 5024, 60, 'contact force on a resting body');
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await until(page, () => window.tenon.state().pressures >= 3);
    const pressures = await page.evaluate(() => window.tenon.view.patches.filter((p) => p.area > 0 && (p.a === 1 || p.b === 1)).map((p) => p.force / p.area));
    check(pressures.length === 1, `one patch below a block: ${pressures}`);
    near(pressures[0], 7850 * 10 * 0.4, 500, 'the pressure below a block of height h is rho g h');
    check((await page.locator('.legend').textContent()).includes('Pa'), 'the scale of the arrows');
    check((await count(page, [61, 125, 255], 30)) > 40, 'pressures are drawn');
    await shot(page, 'pressures');
    await page.keyboard.press('r');
    await seek(page, 0.3);
    const [x, y] = await screenOf(page, 'red');
    const own = await pixel(page, x, y);
    check(own[0] > own[1] + 60 && own[0] > own[2] + 60, `red is red: ${own}`);
    await page.locator('select[aria-label="Colour by"]').selectOption('speed');
    await settled(page);
    const fast = await pixel(page, x, y);
    check(difference(own, fast) > 60, 'coloured by speed');
    check((await page.locator('.legend').textContent()).includes('m/s'), 'a scale with its unit');
    const range = (await state(page)).range;
    check(range.high > 3 && range.high < 5.2, `largest speed ${range.high}: sqrt(2 g h) is below 5`);
    await page.locator('select[aria-label="Colour by"]').selectOption('body');
    await page.keyboard.press('3'); // along z: x is to the right
    await page.keyboard.press('x');
    await page.locator('input[aria-label="Clipping position"]').fill('0.05');
    await settled(page);
    const [cx, cy] = await screenOf(page, 'green');
    const cut = await pixel(page, cx, cy);
    check(!(cut[1] > cut[0] + 50), `cut away: ${cut}`);
    await page.keyboard.press('x');
    await settled(page);
    const whole = await pixel(page, cx, cy);
    check(whole[1] > whole[0] + 30, `back again: ${whole}`);
    await page.keyboard.press('w');
    await page.keyboard.press('o');
    await settled(page);
    check(page.problems.length === 0, page.problems.join('; '));
    const other = await serve('swing.tenon');
    const joints = await open(other.url);
    await joints.keyboard.press('j');
    await settled(joints);
    check((await count(joints, [255, 196, 108], 60)) > 15, 'the axis of a joint is drawn');
    await joints.evaluate(() => window.tenon.select(0, 1));
    await until(joints, () => document.querySelector('.inspector')?.textContent.includes('pin (ball)'));
    await until(joints, () => document.querySelector('.inspector')?.textContent.includes('no gap'));
    await shot(joints, 'joints');
  },

  async 'views along axes, orthographic, follow, trails, wireframe, screenshot'() {
    const { url } = await serve('drop.tenon');
    const page = await open(url);
    const toward = () => page.evaluate(() => window.tenon.stage.camera.getWorldDirection(window.tenon.stage.camera.position.clone()).toArray());
    for (const [key, axis] of [['1', 0], ['2', 1], ['3', 2]]) {
      await page.keyboard.press(key);
      near((await toward())[axis], -1, 2e-3, `looks against axis ${axis}`);
    }
    // along z and without perspective, equal steps in x are equal on the screen whatever their depth
    await page.keyboard.press('o');
    const width = () => page.evaluate(() => {
      const at = (x, z) => window.tenon.stage.project(window.tenon.stage.camera.position.clone().set(x, 0.5, z), 0)[0];
      return [at(1, -2) - at(0, -2), at(1, 2) - at(0, 2)];
    });
    const parallel = await width();
    near(parallel[0], parallel[1], 0.01, 'orthographic: far is as large as near');
    await page.keyboard.press('o');
    const perspective = await width();
    check(perspective[1] > 1.1 * perspective[0], `perspective: near is larger: ${perspective}`);
    // the camera goes with a body
    await page.evaluate(() => window.tenon.select(0, 1));
    await seek(page, 0);
    await page.keyboard.press('v');
    const before = await screenOf(page, 'red');
    await seek(page, 0.4);
    const after = await screenOf(page, 'red');
    near(after[1], before[1], 0.5, 'a followed body stays where it is in the picture');
    await page.keyboard.press('v');
    await page.keyboard.press('0');
    // a trail of the chosen body, then of all
    await page.keyboard.press('t');
    await settled(page);
    const one = (await state(page)).trails;
    near(one, 24, 1, 'a segment a frame: 0.4 s at 60 a second');
    await page.keyboard.press('Escape');
    await settled(page);
    check((await state(page)).trails > 2 * one, 'without a choice all that move have trails');
    await shot(page, 'trails');
    await page.keyboard.press('t');
    const solid = await count(page, [233, 236, 240], 12);
    await page.keyboard.press('w');
    await settled(page);
    check((await count(page, [233, 236, 240], 12)) > solid, 'wires let the background through');
    await page.keyboard.press('w');
    const download = page.waitForEvent('download');
    await page.keyboard.press('s');
    const picture = readFileSync(await (await download).path());
    check(picture.subarray(1, 4).toString() === 'PNG' && picture.length > 3000, 'a screenshot is a PNG');
    check((await download).suggestedFilename() === 'drop-0.400s.png', (await download).suggestedFilename());
    check(page.problems.length === 0, page.problems.join('; '));
  },

  async 'elastic bodies move and show strain'() {
    const { url } = await serve('soft.tenon');
    const page = await open(url);
    const [x, y] = await clickBody(page, 'jelly');
    check((await state(page)).selected === 'jelly', 'an elastic body is picked');
    const before = (await state(page)).center;
    await seek(page, 0.3);
    const after = (await state(page)).center;
    check(before[1] - after[1] > 0.005, `it sank: ${before[1]} to ${after[1]}`);
    await page.keyboard.press('Escape');
    const plain = await pixel(page, x, y);
    await page.locator('select[aria-label="Colour by"]').selectOption('strain');
    await until(page, () => window.tenon.state().range?.high > 1e-4 && window.tenon.state().range.high < 1);
    check(difference(plain, await pixel(page, x, y)) > 40, 'coloured by strain');
    await shot(page, 'elastic');
    await page.locator('select[aria-label="Colour by"]').selectOption('material');
    await settled(page);
    check((await page.locator('.legend').textContent()).includes('gum'), 'materials are named beside their colours');
    // in free fall, from one frame to the next: the mean of g t, by implicit Euler half a step later
    const falling = await open(url);
    await seek(falling, 0.02);
    await falling.locator('select[aria-label="Colour by"]').selectOption('speed');
    await until(falling, () => document.querySelector('.legend')?.textContent.includes('m/s'));
    const [from, to] = await falling.evaluate(() => [0, 1].map((k) => window.tenon.view.frames.times[window.tenon.view.moment.index + k]));
    near((await state(falling)).range.high, 9.81 * (from + to + 0.01) / 2, 1e-3, 'the speed of an elastic body');
    check(page.problems.length === 0 && falling.problems.length === 0, [...page.problems, ...falling.problems].join('; '));
  },

  async 'plots follow and lead'() {
    const { url } = await serve('drop.tenon');
    const page = await open(url);
    await page.keyboard.press('g');
    await until(page, () => document.querySelectorAll('.plot').length >= 4);
    const plot = page.locator('.plot canvas').first();
    await until(page, () => document.querySelector('.plot-legend em')?.textContent.includes('J'));
    await until(page, () => [...document.querySelectorAll('.plot b')].some((b) => b.textContent === 'Time per step'));
    check((await page.evaluate(() => document.querySelector('.plots').scrollTop)) === 0, 'the drawer opens at its top');
    check(await page.evaluate(() => [...document.querySelectorAll('.plot-legend')].every((l) => l.scrollHeight <= l.clientHeight)), 'legends are complete');
    const at = await plot.boundingBox();
    await plot.click({ position: { x: 52 + (at.width - 60) / 2, y: 40 } });
    await until(page, () => window.tenon.state().time > 0);
    await settled(page);
    near((await state(page)).time, 0.5, 0.01, 'a click in the middle of a plot');
    await page.locator('.plot-add input').fill('body.green.speed');
    await page.keyboard.press('Enter');
    await until(page, () => [...document.querySelectorAll('.plot b')].some((b) => b.textContent === 'body.green.speed'));
    await page.locator('.plot-add input').fill('body.nobody.speed');
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('.plot-add .more').textContent.includes('nobody'));
    await shot(page, 'plots');
  },

  async 'the badge says what verify says'() {
    const { url } = await serve('swing.tenon');
    const page = await open(url);
    await page.locator('.badge').click();
    await until(page, () => window.tenon.state().verdict?.state === 'done');
    const verdict = (await state(page)).verdict;
    check(['proven', 'unproven'].includes(verdict.verdict), `verdict ${verdict.verdict}`);
    await settled(page);
    check((await page.locator('.badge').textContent()).includes(verdict.verdict), 'the badge');
    check(verdict.frames.length === (await state(page)).frames, 'a letter for each frame');
    // two boxes inside each other: violated, and the list leads there
    const other = await serve('inside.tenon');
    const bad = await open(other.url);
    await bad.locator('.badge').click();
    await until(bad, () => window.tenon.state().verdict?.state === 'done');
    await settled(bad);
    check((await bad.locator('.badge').textContent()).includes('violated'), 'the badge of a violated run');
    const finding = (await state(bad)).verdict.result.findings[0];
    await seek(bad, 0.1);
    await bad.locator('.findings button').first().click();
    await settled(bad);
    const there = await state(bad);
    check(there.frame === finding.frame && [finding.a, finding.b].includes(there.selected), `jumped to ${there.frame}, ${there.selected}`);
    check(bad.problems.length === 0 && (await bad.title()) !== 'hacked', 'names of findings are text');
    await shot(bad, 'violated');
  },

  async 'two runs side by side, in step'() {
    const { url } = await serve('drop.tenon', 'drop-affine.tenon');
    const page = await open(url);
    check((await page.locator('.runlabel').count()) === 2, 'both are named');
    await seek(page, 0.3);
    const times = await page.evaluate(() => window.tenon.views.map((v) => v.frames.times[v.moment.index]));
    near(times[0], times[1], 0.018, 'the same time');
    for (const run of [0, 1]) {
      const [x, y] = await clickBody(page, 'red', run);
      const selected = await page.evaluate(() => window.tenon.views.map((v) => v.selected));
      check(selected[0] === 1 && selected[1] === 1, `chosen in both: ${selected}, clicked ${x}, ${y}`);
      await page.keyboard.press('Escape');
    }
    await shot(page, 'side-by-side');
  },

  async 'a link brings the view back'() {
    const { url } = await serve('drop.tenon');
    const page = await open(url);
    await seek(page, 0.25);
    await page.evaluate(() => window.tenon.select(0, 2));
    await page.keyboard.press('1');
    await page.keyboard.press('c');
    await until(page, () => location.hash.includes('sel=green') && location.hash.includes('show=forces') && location.hash.includes('t=0.25'));
    const link = page.url();
    const eye = await page.evaluate(() => window.tenon.stage.camera.position.toArray());
    const again = await open(link);
    const s = await state(again);
    near(s.time, 0.25, 1e-6, 'time');
    check(s.selected === 'green', 'selection');
    const back = await again.evaluate(() => window.tenon.stage.camera.position.toArray());
    check(difference(eye, back) < 1e-3 * Math.hypot(...eye), `camera ${back} instead of ${eye}`);
    check(await again.evaluate(() => window.tenon.display.forces), 'forces');
  },

  async 'a simulation is watched and dragged'() {
    const { url, child } = await serve('weightless.json');
    const page = await open(url);
    const first = (await state(page)).frames;
    await until(page, (n) => window.tenon.state().frames > n + 10, first);
    check((await state(page)).live, 'stays at the newest frame');
    check(await page.locator('.live').isVisible(), 'says that it is live');
    await settled(page);
    const [x, y] = await screenOf(page, 'right');
    const area = await page.locator('canvas.stage').boundingBox();
    await page.mouse.move(area.x + x, area.y + y);
    await page.mouse.down();
    const names = ['body.right.y', 'body.left.y', 'body.right.speed'].map((name) => `name=${name}`).join('&');
    let series;
    for (let i = 1; i <= 400; i++) {
      await page.mouse.move(area.x + x, area.y + y - Math.min(100, 5 * i));
      await page.waitForTimeout(60);
      if (i < 20 || i % 10) continue;
      series = await (await page.request.get(`${url}api/runs/0/series?${names}`)).json();
      if (series[0].value.at(-1) > 0.05) break;
    }
    await page.mouse.up();
    check(series[0].value.at(-1) > 0.05, `pulled upwards: ${series[0].value.at(-1)}`);
    near(series[1].value.at(-1), 0, 1e-9, 'the other one is not touched');
    // from rest to y in the recorded time: some speed on the way was at least the mean one
    const fastest = Math.max(...series[2].value.filter(Number.isFinite));
    check(fastest >= series[0].value.at(-1) / series[0].time.at(-1), `its speed: ${fastest}`);
    await page.waitForTimeout(500);
    child.kill('SIGTERM');
    await until(page, () => document.querySelector('.banner:not([hidden])')?.textContent.includes('ended'));
  },

  async 'a run that grows'() {
    const { spawn } = await import('node:child_process');
    const going = spawn(process.argv[2], ['run', 'weightless.json', '-o', 'grow.tenon', '--seconds', '1000000', '--quiet'], { cwd: folder });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const { url } = await serve('grow.tenon');
    const page = await open(url);
    const first = (await state(page)).frames;
    await until(page, (n) => window.tenon.state().frames > n, first);
    going.kill('SIGINT');
    await until(page, () => window.tenon.view.growth.status === 'stopped');
    check(!(await page.locator('.live').isVisible()), 'no longer live');
  },

  async 'one file works from the disk'() {
    const said = tenon('view', 'rest.tenon', '--html', 'drop.html');
    check(said.includes('61 of 61 frames'), said);
    const page = await open(pathToFileURL(join(folder, 'drop.html')).href, { offline: true });
    await seek(page, 0.3);
    await page.evaluate(() => window.tenon.select(0, 1));
    await settled(page);
    near((await state(page)).center[1], 1.2 - 5 * 0.09, 0.01, 'height in the page');
    const [x, y] = await screenOf(page, 'red');
    await page.keyboard.press('Escape');
    const own = await pixel(page, x, y);
    check(own[0] > own[1] + 60, `red is red: ${own}`);
    await page.keyboard.press('g');
    await until(page, () => document.querySelectorAll('.plot').length >= 4);
    await page.keyboard.press('c');
    await seek(page, 1);
    await until(page, () => window.tenon.state().arrows > 0);
    check(page.problems.length === 0, page.problems.join('; '));
    // 201 frames, of which a few kilobytes have to go
    tenon('run', drop, '-o', 'dense.tenon', '--record-every', '1', '--quiet', '--allow-unconverged');
    tenon('view', 'dense.tenon', '--html', 'dense.html');
    const whole = statSync(join(folder, 'dense.html')).size;
    const limit = (whole - 3000) / 1e6;
    const less = tenon('view', 'dense.tenon', '--html', 'less.html', '--max-size', String(limit));
    check(/of 201 frames/.test(less) && less.includes('--max-size'), `says what was left out: ${less}`);
    check(statSync(join(folder, 'less.html')).size <= limit * 1e6, 'the limit is kept');
    const smaller = await open(pathToFileURL(join(folder, 'less.html')).href, { offline: true });
    await seek(smaller, 0.3);
    await smaller.evaluate(() => window.tenon.select(0, 1));
    await settled(smaller);
    near((await state(smaller)).center[1], 1.2 - 5 * 0.09, 0.02, 'interpolated between the frames that are left');
  },

  async 'looks: wide and narrow, light and dark'() {
    const { url } = await serve('drop.tenon');
    for (const dark of [false, true])
      for (const width of [1280, 420]) {
        const page = await open(url, { width, height: width < 500 ? 800 : 760, dark });
        await seek(page, 0.4);
        await shot(page, `${width}-${dark ? 'dark' : 'light'}`);
        await clickBody(page, 'red');
        await page.waitForTimeout(300);
        await shot(page, `${width}-${dark ? 'dark' : 'light'}-chosen`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= width, `nothing sticks out: ${wide} of ${width}`);
        await page.keyboard.press('?');
        await shot(page, `${width}-${dark ? 'dark' : 'light'}-help`);
        await page.context().close();
      }
  },
};

let [passed, failed] = [0, 0];
const only = process.argv[3];
try {
  tenon('run', drop, '-o', 'drop.tenon', '--quiet', '--allow-unconverged');
  tenon('run', drop, '-o', 'drop-affine.tenon', '--method', 'affine', '--seconds', '0.5', '--quiet', '--allow-unconverged');
  // its contacts carry the weight in every frame
  tenon('run', drop, '-o', 'rest.tenon', '--method', 'affine', '--dt', '0.005', '--quiet', '--allow-unconverged');
  tenon('run', swing, '-o', 'swing.tenon', '--record', 'path', '--quiet', '--allow-unconverged');
  tenon('run', soft, '-o', 'soft.tenon', '--quiet', '--allow-unconverged');
  tenon('run', inside, '-o', 'inside.tenon', '--quiet', '--allow-unconverged');
  void free;
  for (const [name, test] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    const start = Date.now();
    try {
      await openBrowser();
      await test();
      passed++;
      console.log(`ok    ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${name}: ${error.message.split("\n")[0]}`);
    } finally {
      await closeAll();
    }
  }
} finally {
  await cleanUp();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
