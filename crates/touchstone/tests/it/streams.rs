//! What an enclosed agent prints, and where to.

use crate::calls::Model;
use crate::enclosure::{agent, can, enclosed, tried};
use crate::stage::{MUL, Stage};
use canon::Value;
use std::fs;

/// What the desk was started with, a terminal or a log that others write to, is not the agent's to hold.
#[test]
fn its_outputs_are_pipes_and_reach_where_the_desk_writes() {
    if !can("its_outputs_are_pipes_and_reach_where_the_desk_writes") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let script = agent(
        "import stat\n\
         def what(n):\n    try: os.ftruncate(n, 0); return 'cut'\n    except OSError: return stat.S_ISFIFO(os.fstat(n).st_mode)\n\
         sys.stderr.write('said aloud\\n'); sys.stderr.flush()\n\
         json.dump([what(1), what(2)], open('tried.json', 'w'))\n",
    );
    let log = stage.path("log");
    fs::write(&log, "written before\n").unwrap();
    let open = || fs::OpenOptions::new().append(true).open(&log).unwrap();
    let status = enclosed(&stage, &model, &[], &script).stdout(open()).stderr(open()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(tried(&stage), Value::Array(vec![true.into(), true.into()]));
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.starts_with("written before\n") && log.contains("said aloud\n"), "{log}");
}
