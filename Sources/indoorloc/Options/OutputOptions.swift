extension CommandOption {
    static let overwrite = CommandOption(name: "overwrite", help: "replace the output if it exists")
    /// GeoJSON without a georeference.
    static let localFrame = CommandOption(
        name: "local-frame", help: "write GeoJSON in metres on each map, which needs no georeference")
}

extension ParsedArguments {
    /// The output file of an option, with all other paths of the command line as its inputs; nil if it was not given.
    ///
    /// - Parameters:
    ///   - isPrivate: whether the file contains locations of a person.
    ///   - except: an option whose file may be the output.
    func outputFile(_ option: String, isPrivate: Bool = false, except: String? = nil) -> OutputFile? {
        guard let path = value(option) else { return nil }
        return outputFile(path, inputs: inputs(except: [option, except ?? option]), isPrivate: isPrivate)
    }

    /// The output file of a required option, as `outputFile(_:isPrivate:except:)` returns it.
    func requiredOutputFile(
        _ option: String, isPrivate: Bool = false, except: String? = nil
    ) throws(UsageError) -> OutputFile {
        _ = try required(option)
        return outputFile(option, isPrivate: isPrivate, except: except) ?? OutputFile(path: "")
    }

    /// The output file of an operand.
    func outputFile(operand index: Int, isPrivate: Bool = false) -> OutputFile {
        let others = operands.enumerated().filter { $0.offset != index }.map { Self.path($0.element) }
        return outputFile(operands[index], inputs: optionValues(except: []) + others, isPrivate: isPrivate)
    }

    /// The operands and the values of all options but some; they include all files that the command reads.
    func inputs(except options: Set<String>) -> [String] { optionValues(except: options) + operands.map(Self.path) }

    private func optionValues(except options: Set<String>) -> [String] {
        values.filter { !options.contains($0.key) }.flatMap(\.value).map(Self.path)
    }

    private func outputFile(_ path: String, inputs: [String], isPrivate: Bool) -> OutputFile {
        OutputFile(path: path, existing: has("overwrite") ? .replaced : .kept, inputs: inputs, isPrivate: isPrivate)
    }
}
