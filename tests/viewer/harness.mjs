// What the browser tests share: runs made by the program, the program serving them, a page, checks with words.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, '../../viewer/package.json'));
const { chromium } = require('playwright-core');

// Software WebGL; nothing is fetched from anywhere.
const FLAGS = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-default-apps',
  '--disable-domain-reliability',
  // on a busy machine a picture of many bodies may take longer than the browser waits before it takes drawing for dead
  '--disable-gpu-watchdog'];

export const program = process.argv[2];
export const folder = mkdtempSync(join(tmpdir(), 'tenon-view-test-'));
export const screenshots = join(here, '../../viewer/screenshots');
mkdirSync(screenshots, { recursive: true });

export function scene(name, content) {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ tenon: 1, name, ...content }));
  return file;
}

export function tenon(...args) {
  const result = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`tenon ${args.join(' ')}: ${result.stderr}${result.stdout}`);
  return result.stdout;
}

// Without a graphics card and on a busy machine a picture may take seconds: waiting is cheap, giving up early is not.
export const PATIENCE = 120000;

const servers = [];

/** Starts `tenon view` and gives its address. */
export function serve(...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['view', ...args, '--no-open', '--quiet'], { cwd: folder });
    servers.push(child);
    let out = '';
    child.stdout.on('data', (data) => {
      out += data;
      const found = out.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (found) resolve({ url: found[0], child });
    });
    child.stderr.on('data', (data) => (out += data));
    child.on('exit', () => reject(new Error(`tenon view ended: ${out}`)));
  });
}

let browser;
export async function openBrowser() {
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args: FLAGS, timeout: PATIENCE });
  return browser;
}

/** Ends what a test has started: its pages, its browser, the programs that serve. */
export async function closeAll() {
  await browser?.close().catch(() => undefined);
  browser = undefined;
  for (const child of servers.splice(0)) child.kill('SIGTERM');
}

/** A page at an address, loaded, with everything that went wrong in it collected. */
export async function open(url, { width = 1024, height = 560, dark = false, offline = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', offline, bypassCSP: true });
  context.setDefaultTimeout(PATIENCE);
  context.setDefaultNavigationTimeout(PATIENCE);
  const page = await context.newPage();
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && page.problems.push(message.text()));
  await page.goto(url);
  await page.waitForFunction(() => window.tenon?.state && window.tenon.views.length && window.tenon.stage.drawn > 0, null, { polling: 100 });
  await settled(page);
  return page;
}

/** Waits until the frame that is shown is the one that was asked for, and draws it. */
export async function settled(page) {
  await page.waitForFunction(() => {
    const { tenon } = window;
    tenon.render();
    return tenon.views.every((v) => v.moment && v.moment.index === v.frames.indexAt(Math.min(tenon.player.shown, v.frames.end)));
  }, null, { polling: 50 });
}

/** Waits for a condition in the page, drawing it anew each time. */
export function until(page, condition, argument) {
  return page.waitForFunction(`(${condition})(${JSON.stringify(argument) ?? ''}) || (window.tenon.render(), false)`, null, { polling: 100 });
}

export async function seek(page, time) {
  await page.evaluate((t) => window.tenon.player.seek(t), time);
  await settled(page);
}

export const state = (page) => page.evaluate(() => window.tenon.state());

/** The colour of a point of the picture. */
export function pixel(page, x, y) {
  return page.evaluate(([px, py]) => {
    const canvas = document.querySelector('canvas.stage');
    window.tenon.render();
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const g = copy.getContext('2d');
    g.drawImage(canvas, 0, 0);
    const ratio = canvas.width / canvas.clientWidth;
    return [...g.getImageData(Math.round(px * ratio), Math.round(py * ratio), 1, 1).data].slice(0, 3);
  }, [x, y]);
}

/** How many points of the picture are nearly of a colour. */
export function count(page, color, tolerance = 40) {
  return page.evaluate(([wanted, near]) => {
    const canvas = document.querySelector('canvas.stage');
    window.tenon.render();
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const g = copy.getContext('2d');
    g.drawImage(canvas, 0, 0);
    const data = g.getImageData(0, 0, copy.width, copy.height).data;
    let found = 0;
    for (let i = 0; i < data.length; i += 4)
      if (Math.abs(data[i] - wanted[0]) + Math.abs(data[i + 1] - wanted[1]) + Math.abs(data[i + 2] - wanted[2]) < near) found++;
    return found;
  }, [color, tolerance]);
}

export const difference = (a, b) => a.reduce((sum, x, i) => sum + Math.abs(x - b[i]), 0);
export const screenOf = (page, name, run = 0) => page.evaluate(([n, r]) => window.tenon.screenOf(n, r), [name, run]);
export const shot = (page, name) => page.screenshot({ path: join(screenshots, `${name}.png`) });

/** Clicks a body in the picture. */
export async function clickBody(page, name, run = 0) {
  const [x, y] = await screenOf(page, name, run);
  const box = await page.locator('canvas.stage').boundingBox();
  await page.mouse.click(box.x + x, box.y + y);
  await settled(page);
  return [x, y];
}

export function check(condition, text) {
  if (!condition) throw new Error(text);
}
export function near(value, wanted, within, text) {
  check(Math.abs(value - wanted) <= within, `${text}: ${value} instead of ${wanted} +- ${within}`);
}

export async function cleanUp() {
  await closeAll();
  rmSync(folder, { recursive: true, force: true });
}
