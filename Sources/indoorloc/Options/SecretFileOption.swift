import SecretFiles

extension ParsedArguments {
    /// Returns the file of an option that names a token, a password or a key; nil without the option.
    package func secretFile(_ option: String, _ content: SecretFile.Content) -> SecretFile? {
        value(option).map { SecretFile($0, content, option: option) }
    }
}
