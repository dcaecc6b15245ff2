//! Sentences of cli/db.

messages! {
    check_the_database = "Check the database", "检查数据库";
    about_check =
        "Read all of it and compare; nothing is changed",
        "读取并核对全部内容；不做任何更改";
    danlu_db_check_options = "danlu db check [OPTIONS]", "danlu db check [选项]";
    help =
        "While the server runs it is asked (admins); otherwise the files are read.",
        "服务器运行时由它检查（管理员）；否则直接读取文件。";
    data_directory = "The data directory", "数据目录";
    configuration_file = "The configuration file of the server", "服务器的配置文件";
    database_sound(tasks, open_tasks, runs, users, nodes, events) =
        "the database is sound: {tasks} tasks ({open_tasks} open), {runs} runs, {users} users, {nodes} machines, {events} events\n",
        "数据库完好：{tasks} 个任务（{open_tasks} 个未结束），{runs} 次运行，{users} 个用户，{nodes} 台机器，{events} 个事件\n";
}
