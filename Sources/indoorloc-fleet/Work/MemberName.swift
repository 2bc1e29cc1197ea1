import Foundation
import indoorloc

/// The name of a process among the members of its group.
enum MemberName {
    static let option = CommandOption(
        name: "name", argument: "NAME", help: "name of this process in the log (default: the host name)")

    /// Returns a name that no other process has: the given one with the process's number and a random one.
    static func unique(_ arguments: ParsedArguments) -> String {
        let given = arguments.value("name") ?? ProcessInfo.processInfo.hostName
        return "\(given)-\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 36))"
    }
}
