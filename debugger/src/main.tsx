import { render } from "preact";
import { App } from "./app";
import { openSession } from "./store/run";
import "./design/tokens.css";
import "./design/base.css";
import "./design/controls.css";
import "./design/content.css";

void openSession();

const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<App />, root);
}
