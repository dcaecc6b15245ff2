//! Sentences of cli/man.

messages! {
    manual_pages = "Manual pages", "生成手册页";
    danlu_man_verb_dir_dir = "danlu man [VERB] [--dir DIR]", "danlu man [动词] [--dir 目录]";
    help =
        "Examples:\n  \
           danlu man submit | man -l -                       read one\n  \
           danlu man --dir ~/.local/share/man/man1           write them all",
        "示例：\n  \
           danlu man submit | man -l -                       阅读一页\n  \
           danlu man --dir ~/.local/share/man/man1           写出全部";
    verb = "The verb to write about", "要生成的动词";
    write_all_pages_into_this_directory = "Write all pages into this directory", "把所有手册页写入该目录";
    unknown_verb_verb(verb) = "unknown verb `{verb}`", "未知动词 `{verb}`";
    could_not_write_to_path_cause(path, cause) = "could not write to {path}: {cause}", "无法写入 {path}：{cause}";
}
