import Foundation
import indoorloc

exit(await CommandLineTool.indoorloc.run(Array(CommandLine.arguments.dropFirst())).rawValue)
