import Foundation
import indoorloc

let words = Array(CommandLine.arguments.dropFirst())
ServicePrivileges.reduce(for: words)
exit(await CommandLineTool.indoorloc.run(words).rawValue)
