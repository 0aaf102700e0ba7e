# Entry of the in-process driver: runner.py and start.py stand before this text.
#
# The candidate is imported into this interpreter (ruling 21, `isolation = "in-process"`).


def main():
    import importlib.util

    setup = read_setup(3)
    workspace = setup["workspace"]
    give_up_privileges(True)
    settle_start()
    # Nothing of ours is left to find by name, and `import __main__` gives an empty module.
    sys.modules["__main__"] = types.ModuleType("__main__")
    import_from_sources(workspace)
    sys.meta_path.insert(0, SuiteFinder(setup, importlib.util.spec_from_loader))
    sys.path[:] = [workspace] + sys.path + setup["packages"]
    sys.argv[:] = [setup["file"]]
    run = make_runner(setup, lambda: None, lambda: None)
    setup.clear()
    run()


main()
