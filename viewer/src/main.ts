import './style.css';
import { App } from './app';
import { h } from './dom';

const root = document.getElementById('app')!;
const say = (error: unknown) => root.replaceChildren(h('div', { class: 'banner', role: 'alert' }, (error as Error).message));
try {
  const app = new App(root);
  // for tests and for scripts in the console
  (window as unknown as { tenon: App }).tenon = app;
  app.ready.catch(say);
} catch (error) {
  say(error); // a browser that cannot draw
}
