//! Mistakes in `[metrics]`.

messages! {
    token_twice = "give the token in a file or in a variable, not in both", "令牌只能来自文件或环境变量之一";
    bad_address(text) =
        "`{text}` is not an address such as 127.0.0.1 or a network such as 10.0.0.0/8",
        "`{text}` 不是地址（如 127.0.0.1）或网段（如 10.0.0.0/8）";
    too_many_addresses(most) = "there are at most {most} addresses", "地址最多 {most} 个";
}
