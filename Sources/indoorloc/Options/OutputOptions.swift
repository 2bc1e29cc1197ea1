extension CommandOption {
    static let overwrite = CommandOption(name: "overwrite", help: "replace the output if it is there already")
}

extension ParsedArguments {
    /// The file that an option names, with all else on the command line as what is read; nil if it was not given.
    ///
    /// - Parameters:
    ///   - isPrivate: whether it tells where somebody was.
    ///   - except: an option whose file may be the output, too.
    func outputFile(_ option: String, isPrivate: Bool = false, except: String? = nil) -> OutputFile? {
        guard let path = value(option) else { return nil }
        return outputFile(path, inputs: inputs(except: [option, except ?? option]), isPrivate: isPrivate)
    }

    /// As `outputFile(_:isPrivate:except:)`, of an option that must be given.
    func requiredOutputFile(
        _ option: String, isPrivate: Bool = false, except: String? = nil
    ) throws(UsageError) -> OutputFile {
        _ = try required(option)
        return outputFile(option, isPrivate: isPrivate, except: except) ?? OutputFile(path: "")
    }

    /// The file that an operand names.
    func outputFile(operand index: Int, isPrivate: Bool = false) -> OutputFile {
        let others = operands.enumerated().filter { $0.offset != index }.map { Self.path($0.element) }
        return outputFile(operands[index], inputs: optionValues(except: []) + others, isPrivate: isPrivate)
    }

    /// What the command line names beside some options, among it all files that the command reads.
    func inputs(except options: Set<String>) -> [String] { optionValues(except: options) + operands.map(Self.path) }

    private func optionValues(except options: Set<String>) -> [String] {
        values.filter { !options.contains($0.key) }.flatMap(\.value).map(Self.path)
    }

    private func outputFile(_ path: String, inputs: [String], isPrivate: Bool) -> OutputFile {
        OutputFile(path: path, existing: has("overwrite") ? .replaced : .kept, inputs: inputs, isPrivate: isPrivate)
    }
}
