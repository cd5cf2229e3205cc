"""How a run shows itself in a notebook: the viewer's page where it is built, else pictures."""
import base64
import html
import os
import pathlib
import shutil
import subprocess
import tempfile


def program():
    """The command line program, or None: TENON_PROGRAM, beside the module's build tree, or on the PATH."""
    beside = pathlib.Path(__file__).resolve().parents[2] / "bin" / "tenon"
    for candidate in (os.environ.get("TENON_PROGRAM"), str(beside), shutil.which("tenon")):
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return None


def viewer_page(file):
    """The run as one HTML page of the viewer, or None where the program or its page is not there."""
    found = program()
    if not found:
        return None
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "run.html")
        try:
            done = subprocess.run([found, "view", file, "--html", page], capture_output=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode != 0 or not os.path.exists(page):
            return None
        return pathlib.Path(page).read_text(encoding="utf-8")


def run_html(run):
    """HTML for notebooks."""
    title = html.escape(repr(run))
    if len(run) == 0:
        return f"<p>{title}</p>"
    page = viewer_page(run.file)
    if page is not None:
        return (f'<p>{title}</p><iframe style="width:100%;height:480px;border:0" sandbox="allow-scripts" '
                f'srcdoc="{html.escape(page, quote=True)}"></iframe>')
    picture = base64.b64encode(run.sheet()).decode()
    return f'<p>{title}</p><img alt="frames of the run" src="data:image/png;base64,{picture}">'
