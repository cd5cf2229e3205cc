// The clock: plays, pauses, steps, loops; follows a run that grows.
export const SPEEDS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];

export class Player {
  time = 0;
  end = 0;
  playing = false;
  loop = true;
  speed = 1;
  live = false; // stays at the newest frame of a growing run
  onchange: () => void = () => {};

  /** Goes on by wall-clock seconds; true when the time changed. */
  advance(seconds: number): boolean {
    const before = this.time;
    if (this.live) {
      // catches up softly, and never runs past what is recorded
      const lag = this.end - this.time;
      this.time = lag > 1 ? this.end : Math.min(this.end, this.time + seconds * (1 + 3 * Math.max(0, lag - 0.15)));
    } else if (this.playing) {
      this.time += seconds * this.speed;
      if (this.time >= this.end) {
        if (this.loop && this.end > 0) this.time = this.time >= this.end + 0.4 * this.speed ? 0 : this.time; // rests at the end
        else {
          this.time = this.end;
          this.playing = false;
          this.onchange();
        }
      }
    }
    return this.time !== before;
  }

  /** The time that is shown. */
  get shown(): number {
    return Math.min(this.time, this.end);
  }

  seek(time: number): void {
    this.time = Math.min(this.end, Math.max(0, time));
    this.live = false;
    this.onchange();
  }

  toggle(): void {
    this.live = false;
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) this.time = 0;
    this.onchange();
  }

  setSpeed(speed: number): void {
    this.speed = SPEEDS.reduce((best, s) => (Math.abs(Math.log(s / speed)) < Math.abs(Math.log(best / speed)) ? s : best));
    this.onchange();
  }

  faster(by: number): void {
    const at = SPEEDS.indexOf(this.speed) + by;
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at))]);
  }
}

export function speedText(speed: number): string {
  return speed < 1 ? `1/${Math.round(1 / speed)}×` : `${speed}×`;
}
