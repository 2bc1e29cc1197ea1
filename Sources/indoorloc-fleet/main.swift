import Foundation
import indoorloc

/// The commands that need the libraries of a fleet.
let tool = CommandLineTool(
    name: "indoorloc-fleet",
    summary: "Locates many tags with several processes or machines, and stores their positions in a database.",
    commands: [
        TrackDatabaseCommand.self, SetupCommand.self, IngestCommand.self, WorkCommand.self, StoreCommand.self,
        LoadCommand.self,
    ])

exit(await tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
