// The verdict of `tenon verify`: a badge for the run, a colour for every frame, a way to the place.
import { h } from './dom';
import type { Finding, Verdict } from './model';
import type { RunView } from './runview';

const WORDS: Record<string, string> = { p: 'proven', u: 'unproven', v: 'violated' };

export class Badge {
  readonly button = h('button', { class: 'badge', title: 'Check this run exactly (tenon verify)' }, 'Verify') as HTMLButtonElement;
  readonly panel = h('div', { class: 'section', hidden: true });
  verdict: Verdict | undefined;
  private timer = 0;

  constructor(private view: RunView, private jump: (finding: Finding) => void, private changed: () => void) {
    this.button.addEventListener('click', () => void this.click());
    this.button.hidden = !view.source.live;
  }

  private async click(): Promise<void> {
    if (this.verdict?.state === 'done') {
      this.panel.hidden = !this.panel.hidden;
      this.changed();
      return;
    }
    await this.ask(true);
  }

  /** Forgets a verdict of a run that has changed since. */
  reset(): void {
    window.clearTimeout(this.timer);
    this.verdict = undefined;
    this.panel.hidden = true;
    this.draw(0);
  }

  async ask(start: boolean): Promise<void> {
    window.clearTimeout(this.timer);
    try {
      const verdict = await this.view.source.verdict(start);
      if (!verdict || (verdict.state === 'none' && !start)) return;
      // of a run that has grown since
      if (verdict.state === 'done' && verdict.frames.length !== this.view.frames.count) return this.reset();
      this.verdict = verdict;
      if (verdict.state === 'running') this.timer = window.setTimeout(() => void this.ask(false), 300);
      if (verdict.state === 'done') this.fillPanel(verdict);
    } catch {
      this.verdict = undefined;
    }
    this.changed();
  }

  private fillPanel(verdict: Verdict): void {
    const findings = verdict.result?.findings ?? [];
    this.panel.replaceChildren(
      h('h2', {}, 'Verify'),
      h('div', { style: 'margin-top:4px' }, verdict.verdict === 'proven'
        ? 'No two surfaces meet, at any recorded time or between; joints and momenta hold.'
        : verdict.verdict === 'unproven'
          ? 'Clean in all frames; some motion between frames is not proven. Record with --record path.'
          : 'Something is violated. Click a line to go there.'),
      h('ul', { class: 'touching findings' }, ...findings.slice(0, 100).map((finding) =>
        h('li', {}, h('button', { title: finding.text, click: () => this.jump(finding) },
          `${finding.time.toFixed(3)} s  ${[finding.a, finding.b].filter(Boolean).join(' – ') || finding.kind}`), h('em', {}, finding.kind)))),
    );
    this.panel.hidden = verdict.verdict === 'proven';
  }

  draw(frame: number): void {
    const verdict = this.verdict;
    this.button.className = 'badge';
    if (!verdict) this.button.textContent = 'Verify';
    else if (verdict.state === 'running') this.button.textContent = verdict.verdict ? 'Locating …' : `Verifying ${Math.round(100 * verdict.progress)} %`;
    else if (verdict.state === 'failed') {
      this.button.textContent = 'Cannot verify';
      this.button.title = verdict.problem;
    } else {
      const here = WORDS[verdict.frames[frame]] ?? verdict.verdict;
      this.button.textContent = here === verdict.verdict ? verdict.verdict : `${verdict.verdict}; here ${here}`;
      this.button.classList.add(verdict.verdict);
    }
  }
}
