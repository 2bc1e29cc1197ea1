// Finds the places where Swift code can be broken on purpose: find FILE...
//
// Prints a line of JSON for each mutant: its file and line, what is exchanged for what, and how the source is changed.
// The change inserts `open` at the byte offset `start` and `close` at `end`; `mutant(@)` stands for its switch. What is
// between them stays, so that several mutants fit into each other.
//
// Compiled with the modules of the toolchain's own parser; see .ci/mutants.

import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Collects the mutants of a file.
final class MutantFinder: SyntaxVisitor {
    private let file: String
    private let source: [UInt8]
    private let lines: SourceLocationConverter

    init(file: String, text: String) {
        self.file = file
        source = Array(text.utf8)
        let tree = Parser.parse(source: text)
        lines = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
        var operators = OperatorTable.standardOperators
        operators.addSourceFile(tree) { _ in }
        walk(operators.foldAll(tree) { _ in })
    }

    // MARK: - Output

    private func text(_ range: Range<Int>) -> String { String(decoding: source[range], as: UTF8.self) }

    private func range(_ node: some SyntaxProtocol) -> Range<Int> {
        node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
    }

    private func report(
        _ kind: String, at node: some SyntaxProtocol, _ range: Range<Int>, _ open: String, _ close: String,
        from before: String, to after: String
    ) {
        let line = lines.location(for: node.positionAfterSkippingLeadingTrivia).line
        let fields = [
            ("file", quoted(file)), ("line", "\(line)"), ("kind", quoted(kind)), ("start", "\(range.lowerBound)"),
            ("end", "\(range.upperBound)"), ("open", quoted(open)), ("close", quoted(close)),
            ("before", quoted(before)),
            ("after", quoted(after)),
        ]
        print("{" + fields.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}")
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Exchanges an expression for another one.
    private func exchange(_ kind: String, _ node: some SyntaxProtocol, for after: String) {
        let place = range(node)
        report(kind, at: node, place, "(mutant(@) ? \(after) : ", ")", from: text(place), to: after)
    }

    /// Exchanges a part of an expression for another text.
    private func exchange(_ kind: String, _ node: some SyntaxProtocol, part: some SyntaxProtocol, for after: String) {
        let (whole, inner) = (range(node), range(part))
        let changed = text(whole.lowerBound..<inner.lowerBound) + after + text(inner.upperBound..<whole.upperBound)
        report(
            kind, at: part, whole, "(mutant(@) ? \(changed) : ", ")", from: text(whole), to: changed)
    }

    private func leaveOut(_ node: some SyntaxProtocol) {
        let place = range(node)
        report("statement", at: node, place, "if !mutant(@) { ", " }", from: text(place), to: "nothing")
    }

    // MARK: - Operators

    private static let exchanges: [String: [(kind: String, symbol: String)]] = [
        "<": [("comparison", "<="), ("comparison", ">")], "<=": [("comparison", "<"), ("comparison", ">=")],
        ">": [("comparison", ">="), ("comparison", "<")], ">=": [("comparison", ">"), ("comparison", "<=")],
        "==": [("comparison", "!=")], "!=": [("comparison", "==")],
        "===": [("comparison", "!==")], "!==": [("comparison", "===")],
        "&&": [("logic", "||")], "||": [("logic", "&&")],
        "+": [("arithmetic", "-")], "-": [("arithmetic", "+")], "*": [("arithmetic", "/")], "/": [("arithmetic", "*")],
        "%": [("arithmetic", "*")], "&+": [("arithmetic", "&-")], "&-": [("arithmetic", "&+")],
        "&*": [("arithmetic", "&+")], "<<": [("arithmetic", ">>")], ">>": [("arithmetic", "<<")],
        "&<<": [("arithmetic", "&>>")], "&>>": [("arithmetic", "&<<")], "&": [("arithmetic", "|")],
        "|": [("arithmetic", "&")], "^": [("arithmetic", "&")],
        "+=": [("arithmetic", "-=")], "-=": [("arithmetic", "+=")], "*=": [("arithmetic", "/=")],
        "/=": [("arithmetic", "*=")],
    ]

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let symbol = node.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return .visitChildren }
        for (kind, other) in Self.exchanges[symbol.text] ?? [] {
            if Self.isAssignment(symbol.text) {
                let (place, sign) = (range(node), range(symbol))
                let after = text(place.lowerBound..<sign.lowerBound) + other + text(sign.upperBound..<place.upperBound)
                report(
                    kind, at: node, place, "if mutant(@) { \(after) } else { ", " }", from: text(place), to: after)
                continue
            }
            // Numbers with a fraction are hardly ever equal to a limit.
            if kind == "comparison", other.first == symbol.text.first, other != "==", isFraction(node) { continue }
            exchange(kind, node, part: symbol, for: other)
        }
        switch symbol.text {
        case "..<", "...":
            let end = range(node.rightOperand)
            report(
                "constant", at: node, end, "(mutant(@) ? (\(text(end))) - 1 : ", ")", from: text(range(node)),
                to: "\(text(range(node.leftOperand))) \(symbol.text) (\(text(end))) - 1")
        case "??": exchange("branch", node, for: text(range(node.rightOperand)))
        default: break
        }
        return .visitChildren
    }

    private func isFraction(_ node: InfixOperatorExprSyntax) -> Bool {
        [node.leftOperand, node.rightOperand].contains { operand in
            var operand = operand
            if let prefixed = operand.as(PrefixOperatorExprSyntax.self) { operand = prefixed.expression }
            return operand.is(FloatLiteralExprSyntax.self)
        }
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        let isNumber =
            node.expression.is(IntegerLiteralExprSyntax.self) || node.expression.is(FloatLiteralExprSyntax.self)
        switch node.operator.text {
        case "!": exchange("logic", node, for: text(range(node.expression)))
        case "-", "~": if !isNumber { exchange("arithmetic", node, for: text(range(node.expression))) }
        default: break
        }
        return .visitChildren
    }

    // MARK: - Constants

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let digits = node.literal.text.filter { $0 != "_" }
        let radix = ["0x": 16, "0b": 2, "0o": 8][digits.prefix(2)] ?? 10
        guard !isFixed(node), let value = UInt64(radix == 10 ? digits : String(digits.dropFirst(2)), radix: radix)
        else {
            return .skipChildren
        }
        // Half of a large number is another limit; a neighbour of a code is another code.
        let isMask = radix != 10 && value & (value &+ 1) == 0 && value > 0
        exchange("constant", node, for: "\(isMask ? value - 1 : radix == 10 && value > 16 ? value / 2 : value &+ 1)")
        return .skipChildren
    }

    override func visit(_ node: FloatLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        guard !isFixed(node), let value = Double(node.literal.text.filter { $0 != "_" }) else { return .skipChildren }
        exchange("constant", node, for: value == 0 ? "1.0" : "\(2 * value)")
        return .skipChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        // A capacity is kept for speed alone.
        let label = node.parent?.as(LabeledExprSyntax.self)?.label?.text
        guard !isFixed(node), label != "keepingCapacity" else { return .skipChildren }
        exchange("constant", node, for: node.literal.text == "true" ? "false" : "true")
        return .skipChildren
    }

    /// Whether the grammar permits nothing but a literal.
    private func isFixed(_ node: some ExprSyntaxProtocol) -> Bool {
        var parent = node.parent
        while let current = parent {
            if current.is(EnumCaseElementSyntax.self) || current.is(GenericArgumentSyntax.self) { return true }
            // A pattern of a switch; an exhaustive one has to stay so.
            if current.is(SwitchCaseItemSyntax.self) { return node.is(BooleanLiteralExprSyntax.self) }
            if current.is(CodeBlockItemSyntax.self) || current.is(MemberBlockItemSyntax.self) { return false }
            parent = current.parent
        }
        return false
    }

    // MARK: - Calls

    /// Calls that no test can notice, because they don't change what the program does, or end it.
    private static let ignored: Set<String> = [
        "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "reserveCapacity",
    ]
    private static let opposites = ["min": "max", "max": "min", "first": "last", "last": "first"]

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let member = node.calledExpression.as(MemberAccessExprSyntax.self)
        guard let name = member?.declName ?? node.calledExpression.as(DeclReferenceExprSyntax.self) else {
            return .visitChildren
        }
        if Self.ignored.contains(name.baseName.text) { return .skipChildren }
        if let opposite = Self.opposites[name.baseName.text], member == nil || member?.base != nil {
            exchange("call", node, part: name.baseName, for: opposite)
        }
        return .visitChildren
    }

    // MARK: - Branches

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
        dropBranch(node.conditions, of: "if")
        dropClauses(node.conditions)
        return .visitChildren
    }

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        dropBranch(node.conditions, of: "guard")
        dropClauses(node.conditions)
        return .visitChildren
    }

    override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind {
        dropBranch(node.conditions, of: "while")
        if node.conditions.count > 1 { dropClauses(node.conditions) }
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        always("false", node.condition)
        always("true", node.condition)
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
        if node.parent?.is(ForStmtSyntax.self) == true || node.parent?.is(SwitchCaseItemSyntax.self) == true {
            always("true", node.condition)
        }
        return .visitChildren
    }

    /// Makes a list of conditions false.
    private func dropBranch(_ conditions: ConditionElementListSyntax, of keyword: String) {
        let place = range(conditions)
        report(
            "branch", at: conditions, place.lowerBound..<place.lowerBound, "!mutant(@), ", "",
            from: "\(keyword) \(text(place))", to: "\(keyword) false")
    }

    /// Makes each condition true by itself.
    private func dropClauses(_ conditions: ConditionElementListSyntax) {
        for element in conditions {
            if case .expression(let condition) = element.condition { always("true", condition) }
        }
    }

    private func always(_ value: String, _ condition: ExprSyntax) {
        guard !condition.is(BooleanLiteralExprSyntax.self) else { return }
        exchange("branch", withoutEffects(condition), for: value)
    }

    override func visit(_ node: SwitchCaseSyntax) -> SyntaxVisitorContinueKind {
        // A case without an exit, in a switch that is no value.
        guard node.statements.count > 1, let last = node.statements.last?.item, !isExit(Syntax(last)) else {
            return .visitChildren
        }
        let place = range(node.statements)
        report(
            "branch", at: node.statements, place, "if !mutant(@) { ", " }", from: text(place), to: "nothing")
        return .visitChildren
    }

    private func isExit(_ node: Syntax) -> Bool {
        node.is(ReturnStmtSyntax.self) || node.is(ThrowStmtSyntax.self) || node.is(BreakStmtSyntax.self)
            || node.is(ContinueStmtSyntax.self)
    }

    // MARK: - Statements

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        let list = node.parent?.as(CodeBlockItemListSyntax.self)
        let isAlone = list?.count == 1
        let isLast = list?.last?.id == node.id
        let isInGuard = list?.parent?.parent?.is(GuardStmtSyntax.self) == true
        let item = Syntax(node.item)
        if let expression = item.as(ExpressionStmtSyntax.self)?.expression ?? item.as(ExprSyntax.self) {
            if isAlone, let type = resultType(of: Syntax(node)) {
                returnConstant(expression, type)
            } else if isStatement(expression) {
                leaveOut(node)
            }
        } else if isExit(item), !(isInGuard && isLast), !item.is(BreakStmtSyntax.self),
            item.as(ReturnStmtSyntax.self)?.expression == nil
        {
            leaveOut(node)
        }
        return .visitChildren
    }

    /// Whether an expression is a call or an assignment, alone or after `try` and `await`.
    private func isStatement(_ expression: ExprSyntax) -> Bool {
        let expression = withoutEffects(expression)
        if let call = expression.as(FunctionCallExprSyntax.self) {
            let member = call.calledExpression.as(MemberAccessExprSyntax.self)
            // A member without a base is a value.
            if let member, member.base == nil { return false }
            let name = member?.declName ?? call.calledExpression.as(DeclReferenceExprSyntax.self)
            return name.map { !Self.ignored.contains($0.baseName.text) } ?? true
        }
        guard let infix = expression.as(InfixOperatorExprSyntax.self) else { return false }
        if infix.operator.is(AssignmentExprSyntax.self) {
            return !infix.leftOperand.is(DiscardAssignmentExprSyntax.self)
        }
        guard let symbol = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return false }
        return Self.isAssignment(symbol)
    }

    private static func isAssignment(_ symbol: String) -> Bool {
        symbol.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!=="].contains(symbol)
    }

    /// The expression behind `try` and `await`, which may not stand within an operator.
    private func withoutEffects(_ expression: ExprSyntax) -> ExprSyntax {
        if let inner = expression.as(TryExprSyntax.self), inner.questionOrExclamationMark == nil {
            return withoutEffects(inner.expression)
        }
        if let inner = expression.as(AwaitExprSyntax.self) { return withoutEffects(inner.expression) }
        return expression
    }

    // MARK: - Results

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if let expression = node.expression, let type = resultType(of: Syntax(node)) {
            returnConstant(expression, type)
        }
        return .visitChildren
    }

    /// The type that the function or the accessor around a statement returns; nil in a closure, and if there is none.
    /// Of an expression without `return`, only the body of the function itself counts.
    private func resultType(of statement: Syntax) -> TypeSyntax? {
        let isReturn = statement.is(ReturnStmtSyntax.self)
        var parent = statement.parent
        while let current = parent {
            if let function = current.as(FunctionDeclSyntax.self) { return function.signature.returnClause?.type }
            if let accessor = current.as(AccessorDeclSyntax.self),
                accessor.accessorSpecifier.tokenKind != .keyword(.get)
            {
                return nil
            }
            if let binding = current.as(PatternBindingSyntax.self) { return binding.typeAnnotation?.type }
            if let element = current.as(SubscriptDeclSyntax.self) { return element.returnClause.type }
            if current.is(ClosureExprSyntax.self) || current.is(InitializerDeclSyntax.self) { return nil }
            let isBody =
                current.is(CodeBlockItemListSyntax.self) || current.is(CodeBlockSyntax.self)
                || current.is(AccessorBlockSyntax.self) || current.is(AccessorDeclSyntax.self)
                || current.is(AccessorDeclListSyntax.self)
            if !isReturn, !isBody { return nil }
            parent = current.parent
        }
        return nil
    }

    private func returnConstant(_ expression: ExprSyntax, _ type: TypeSyntax) {
        let expression = withoutEffects(expression)
        let old = text(range(expression))
        // An `if` or a `switch` is a value only where nothing is around it.
        guard !expression.is(IfExprSyntax.self), !expression.is(SwitchExprSyntax.self) else { return }
        let constant: String
        switch type.trimmedDescription {
        case "Bool":
            guard !expression.is(BooleanLiteralExprSyntax.self) else { return }
            constant = "!(\(old))"
        case "Int", "Int64", "Int32", "UInt8", "UInt16", "UInt32", "UInt64", "Int8": constant = "0"
        case "Double", "Float": constant = "0.0"
        case "String": constant = "\"\""
        case "Duration": constant = "Duration.zero"
        default:
            if type.is(OptionalTypeSyntax.self) {
                constant = "nil"
            } else if type.is(ArrayTypeSyntax.self) {
                constant = "[]"
            } else if type.is(DictionaryTypeSyntax.self) {
                constant = "[:]"
            } else {
                return
            }
        }
        if old != constant, old != "0" { exchange("result", expression, for: constant) }
    }

    // MARK: - What stays as it is

    override func visit(_: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_: ImportDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

for file in CommandLine.arguments.dropFirst() {
    _ = MutantFinder(file: file, text: try String(contentsOfFile: file, encoding: .utf8))
}
