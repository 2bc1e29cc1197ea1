import Foundation
import Glibc

/// The error of a file that can't be read.
struct InputFailure: Error, CustomStringConvertible {
    let description: String

    /// Describes the system's last error.
    init(_ path: String) { description = "\(path): cannot be read: \(String(cString: strerror(errno)))" }
}

extension ParsedArguments {
    /// The word for standard input on a command line.
    static let standardInput = "-"

    /// The path of an input file; a dash is standard input.
    static func path(_ word: String) -> String { word == standardInput ? "/dev/stdin" : word }

    /// The input file of an option, which may be read more than once; nil if the option was not given.
    package func input(_ option: String) throws -> String? { try value(option).map(InputFile.keeping) }

    /// The input file of a required option, which may be read more than once.
    package func requiredInput(_ option: String) throws -> String { try InputFile.keeping(try required(option)) }

    /// The input file of an operand, which may be read more than once.
    func input(operand index: Int) throws -> String { try InputFile.keeping(operands[index]) }

    /// The input file of an operand that is read once from start to end, such as a pipe.
    func stream(operand index: Int) -> String { Self.path(operands[index]) }

    /// - Throws: `UsageError` if standard input is given for more than one file.
    func checkStandardInput() throws(UsageError) {
        let inputs = operands.enumerated().filter { $0.offset != syntax.standardOutputOperand }.map(\.element)
        let words = inputs + values.values.flatMap(\.self)
        guard words.count(where: { $0 == Self.standardInput }) > 1 else { return }
        throw UsageError(message: "'-' (standard input) can be given only once", command: syntax.name)
    }
}

/// A file that can be read several times, even if it is a pipe.
enum InputFile {
    /// Returns the path of a file with the content of the one at `word`: the same file, or a copy of a pipe.
    ///
    /// The content of a pipe is copied to an unnamed file, which the system deletes when the process ends. If the
    /// process received the pipe as an open descriptor, such as standard input, the copy replaces it at the same path.
    static func keeping(_ word: String) throws(InputFailure) -> String {
        let path = ParsedArguments.path(word)
        guard let file = FileIdentity(path: path), file.isPipe || path == "/dev/stdin" && !file.isRegular else {
            return path
        }
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw InputFailure(path) }
        defer { close(source) }
        let kept = try nameless(path)
        try copy(source, to: kept, path)
        guard let given = OpenDescriptor.named(path) else { return "/dev/fd/\(kept)" }
        dup2(kept, given)
        close(kept)
        return path
    }

    /// The maximum size of a copied pipe in bytes.
    private static let limit = 4 << 30

    private static func nameless(_ path: String) throws(InputFailure) -> Int32 {
        var template = Array((FileManager.default.temporaryDirectory.path + "/indoorloc-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw InputFailure(path) }
        unlink(template)
        return descriptor
    }

    private static func copy(_ source: Int32, to target: Int32, _ path: String) throws(InputFailure) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(source, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputFailure(path) }
            guard count > 0 else { return }
            total += count
            errno = EFBIG
            guard total <= limit else { throw InputFailure(path) }
            let error = FileDescriptor.write(bytes[..<count], to: target)
            errno = error
            guard error == 0 else { throw InputFailure(path) }
        }
    }
}
