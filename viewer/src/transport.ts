// Play, step, scrub, speed, loop; the strip below the slider shows each frame's verdict.
import { h, icon, iconButton } from './dom';
import { Player, SPEEDS, speedText } from './player';

const STRIP: Record<string, string> = { p: '--good', u: '--warn', v: '--bad' };

export class Transport {
  readonly element: HTMLElement;
  private playButton: HTMLButtonElement;
  private loopButton: HTMLButtonElement;
  private slider = h('input', { type: 'range', min: 0, max: 1, step: 'any', value: 0, 'aria-label': 'Time' }) as HTMLInputElement;
  private strip = document.createElement('canvas');
  private clock = h('div', { class: 'clock' });
  private speed = h('select', { title: 'Speed', 'aria-label': 'Speed' }) as HTMLSelectElement;
  private liveButton: HTMLButtonElement;

  constructor(private player: Player, step: (by: number) => void, plots: () => void) {
    this.playButton = iconButton('play', 'Play or pause (Space)', () => player.toggle());
    this.playButton.classList.add('play');
    this.loopButton = iconButton('loop', 'Loop (L)', () => {
      player.loop = !player.loop;
      player.onchange();
    });
    for (const s of SPEEDS) this.speed.append(h('option', { value: s }, speedText(s)));
    this.speed.addEventListener('change', () => player.setSpeed(Number(this.speed.value)));
    this.slider.addEventListener('input', () => player.seek(Number(this.slider.value)));
    this.liveButton = h('button', { title: 'Stay at the newest frame', hidden: true, click: () => {
      player.live = !player.live;
      player.playing = false;
      player.onchange();
    } }, 'Live') as HTMLButtonElement;
    this.element = h('div', { class: 'transport' },
      iconButton('back', 'One frame back (Left)', () => step(-1)), this.playButton,
      iconButton('forward', 'One frame on (Right)', () => step(1)), this.loopButton, this.speed, this.liveButton,
      h('div', { class: 'track' }, this.slider, this.strip), this.clock, iconButton('plots', 'Plots (G)', plots));
  }

  draw(frame: number, frames: number, growing: boolean): void {
    const { player } = this;
    this.playButton.replaceChildren(icon(player.playing || player.live ? 'pause' : 'play'));
    this.loopButton.classList.toggle('on', player.loop);
    this.speed.value = String(player.speed);
    this.slider.max = String(player.end || 1);
    this.slider.value = String(player.shown);
    this.liveButton.hidden = !growing;
    this.liveButton.classList.toggle('on', player.live);
    this.clock.replaceChildren(`${player.shown.toFixed(3)} s `, h('small', {}, `frame ${frame} of ${Math.max(0, frames - 1)}`));
  }

  drawStrip(verdicts: string): void {
    const width = (this.strip.width = Math.max(1, Math.round(this.strip.clientWidth)));
    this.strip.height = 4;
    const g = this.strip.getContext('2d')!;
    g.clearRect(0, 0, width, 4);
    const style = getComputedStyle(this.strip);
    // the worst frame of a pixel is the one that shows
    const rank = 'puv';
    for (let x = 0; x < width && verdicts.length; x++) {
      const first = Math.floor((x / width) * verdicts.length);
      const last = Math.max(first + 1, Math.floor(((x + 1) / width) * verdicts.length));
      let worst = -1;
      for (let i = first; i < last; i++) worst = Math.max(worst, rank.indexOf(verdicts[i]));
      if (worst < 0) continue;
      g.fillStyle = style.getPropertyValue(STRIP[rank[worst]]).trim();
      g.fillRect(x, 0, 1, 4);
    }
  }
}
